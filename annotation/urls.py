"""The addresses of the pages. Every one has a row in the table of roles of tests/annotation/test_pages.py."""

from __future__ import annotations

from django.conf import settings
from django.urls import path

from annotation.views import (
    adjudicating,
    annotating,
    assigning,
    demo,
    evaluating,
    fooling,
    importing,
    people,
    perturbing,
    practising,
    releasing,
    setting_up,
    site,
)

urlpatterns = [
    path("", site.home, name="home"),
    path("jobs/<str:public_id>/", site.job, name="job"),
    path("healthz", site.healthz, name="healthz"),
    path("readyz", site.readyz, name="readyz"),
    # people
    path("sign-in/", people.sign_in, name="sign_in"),
    path("sign-out/", people.sign_out, name="sign_out"),
    path("account/", people.account, name="account"),
    path("account/password/", people.change_password, name="change_password"),
    path("account/sign-out-everywhere/", people.sign_out_everywhere, name="sign_out_everywhere"),
    path("account/tokens/", people.make_token, name="make_token"),
    path("account/tokens/<str:public_id>/revoke/", people.revoke_token, name="revoke_token"),
    path("join/<str:token>/", people.join, name="join"),
    path("projects/<slug:slug>/people/", people.people, name="people"),
    path("members/<int:pk>/remove/", people.remove_member, name="remove_member"),
    # setting up
    path("projects/new/", setting_up.project_new, name="project_new"),
    path("projects/<slug:slug>/", setting_up.project, name="project"),
    path("projects/<slug:slug>/guidelines/<str:type>/", setting_up.guidelines, name="guidelines"),
    path("projects/<slug:slug>/practice/<str:type>/", practising.practice, name="practice"),
    # importing
    path("projects/<slug:slug>/sources/", importing.sources, name="sources"),
    path("projects/<slug:slug>/sources/import/", importing.import_new, name="import_new"),
    path("sources/<str:public_id>/", importing.source, name="source"),
    path("examples/<str:public_id>/", importing.example, name="example"),
    path("projects/<slug:slug>/perturbations/", perturbing.perturbations, name="perturbations"),
    # assigning
    path("projects/<slug:slug>/fooling/", fooling.report, name="fooling"),
    path("projects/<slug:slug>/batches/new/", assigning.batch_new, name="batch_new"),
    path("batches/<str:public_id>/", assigning.batch, name="batch"),
    path("batches/<str:public_id>/report/", assigning.report, name="batch_report"),
    path("batches/<str:public_id>/open/", assigning.open_batch, name="open_batch"),
    path("batches/<str:public_id>/close/", assigning.close_batch, name="close_batch"),
    path("batches/<str:public_id>/panel/", assigning.panel, name="batch_panel"),
    path("batches/<str:public_id>/proposals/", assigning.propose, name="batch_propose"),
    # annotating
    path("batches/<str:public_id>/annotate/", annotating.annotate, name="annotate"),
    path("work/", annotating.my_work, name="my_work"),
    path("work/<str:public_id>/", annotating.resume, name="resume"),
    # adjudicating
    path("batches/<str:public_id>/adjudication/", adjudicating.adjudication, name="adjudication"),
    path("items/<str:public_id>/adjudicate/", adjudicating.adjudicate, name="adjudicate"),
    # releasing
    path("projects/<slug:slug>/releases/", releasing.releases, name="releases"),
    path("releases/<str:public_id>/", releasing.release, name="release"),
    path("releases/<str:public_id>/download/", releasing.download, name="download"),
    # evaluating
    path("releases/<str:public_id>/evaluations/", evaluating.evaluations, name="evaluations"),
    path(
        "releases/<str:public_id>/evaluations/download/",
        evaluating.evaluations_download,
        name="evaluations_download",
    ),
]

if settings.DEMO_SECRET:
    urlpatterns.append(path("demo/<str:token>/", demo.demo_sign_in, name="demo_sign_in"))
