"""The address map: the pages at the root, the programming interface under /api/, Django's admin under /admin/."""

from django.urls import include, path

from annotation.admin import site
from annotation.management import prometheus

urlpatterns = [
    path("api/", include("annotation.web.api.urls")),
    path("admin/", site.urls),
    path("metrics", prometheus.page, name="metrics"),
    path("", include("annotation.web.urls")),
]

handler400 = "config.server_errors.bad_request"
handler500 = "config.server_errors.server_error"
