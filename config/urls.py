"""The address map: the pages at the root, the programming interface under /api/."""

from django.urls import include, path

urlpatterns = [
    path("api/", include("annotation.api.urls")),
    path("", include("annotation.urls")),
]
