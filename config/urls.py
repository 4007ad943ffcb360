"""The address map: the pages at the root, the programming interface under /api/, Django's admin under /admin/."""

from django.urls import include, path

from annotation import metrics
from annotation.admin import site

urlpatterns = [
    path("api/", include("annotation.api.urls")),
    path("admin/", site.urls),
    path("metrics", metrics.page, name="metrics"),
    path("", include("annotation.urls")),
]

handler400 = "config.server_errors.bad_request"
handler500 = "config.server_errors.server_error"
