"""The addresses of the pages. Every one has a row in the table of roles of tests/annotation/test_pages.py."""

from __future__ import annotations

from django.conf import settings
from django.urls import path

from annotation.views import (
    accounts,
    adjudicating,
    annotating,
    assigning,
    calibrating,
    consenting,
    crowd,
    dashboards,
    demo,
    evaluating,
    exploring,
    figure_files,
    fooling,
    golding,
    guidance,
    importing,
    inquiring,
    labelled_elsewhere,
    language,
    methods,
    own_work,
    paying,
    people,
    perturbing,
    practising,
    qualifying,
    releasing,
    setting_up,
    sharing,
    site,
    statements,
    stories,
    study_templates,
    studying,
    trying,
)

urlpatterns = [
    path("", site.home, name="home"),
    path("jobs/<str:public_id>/", site.job, name="job"),
    path("healthz", site.healthz, name="healthz"),
    path("readyz", site.readyz, name="readyz"),
    path("words/<str:language>.js", language.words, name="words"),
    path("language/", language.choose, name="set_language"),
    # people
    path("sign-in/", people.sign_in, name="sign_in"),
    path("sign-out/", people.sign_out, name="sign_out"),
    path("password/forgotten/", accounts.forgotten, name="forgotten"),
    path("password/new/<str:key>/<str:token>/", accounts.reset_password, name="reset_password"),
    path("accounts/", accounts.people, name="accounts"),
    path("accounts/<int:pk>/", accounts.person, name="account_of"),
    path("accounts/<int:pk>/data/", accounts.data_of, name="data_of"),
    path("accounts/<int:pk>/erase/", accounts.erase, name="erase_person"),
    path("account/data/", accounts.my_data, name="my_data"),
    path("account/erase/", accounts.erase_me, name="erase_me"),
    path("account/", people.account, name="account"),
    path("account/display/", people.change_display, name="change_display"),
    path("account/password/", people.change_password, name="change_password"),
    path("account/sign-out-everywhere/", people.sign_out_everywhere, name="sign_out_everywhere"),
    path("account/tokens/", people.make_token, name="make_token"),
    path("account/tokens/<str:public_id>/revoke/", people.revoke_token, name="revoke_token"),
    path("join/<str:token>/", people.join, name="join"),
    path("projects/<slug:slug>/people/", people.people, name="people"),
    path("members/<int:pk>/remove/", people.remove_member, name="remove_member"),
    path("members/<int:pk>/roles/", people.change_roles, name="change_roles"),
    path("invitations/<int:pk>/withdraw/", people.withdraw, name="withdraw_invitation"),
    path("batches/<str:public_id>/labels/", labelled_elsewhere.labels, name="labels_elsewhere"),
    # what happened
    path("projects/<slug:slug>/log/", stories.log, name="project_log"),
    path("items/<str:public_id>/story/", stories.item, name="item_story"),
    # the explorer
    path("projects/<slug:slug>/explorer/", exploring.explorer, name="explorer"),
    path("batches/<str:public_id>/items/", exploring.batch_items, name="batch_items"),
    path("items/<str:public_id>/beside/", exploring.explorer_item, name="explorer_item"),
    # crowd entry
    path("crowd/finish/", crowd.finish, name="crowd_finish"),
    path("crowd/back/<str:token>/", crowd.back, name="crowd_back"),
    path("crowd/<str:public_id>/", crowd.enter, name="crowd_enter"),
    path("projects/<slug:slug>/crowd/", crowd.links, name="crowd_links"),
    path("projects/<slug:slug>/crowd/<str:public_id>/", crowd.link, name="crowd_link"),
    path("projects/<slug:slug>/crowd/<str:public_id>/close/", crowd.close, name="crowd_close"),
    path(
        "projects/<slug:slug>/crowd/<str:public_id>/entries/<int:pk>/back/",
        crowd.let_back,
        name="crowd_let_back",
    ),
    # setting up
    path("projects/new/", setting_up.project_new, name="project_new"),
    path("projects/<slug:slug>/", setting_up.project, name="project"),
    path("projects/<slug:slug>/rename/", setting_up.project_rename, name="project_rename"),
    path("projects/<slug:slug>/guidelines/<str:type>/", guidance.guidelines, name="guidelines"),
    path("projects/<slug:slug>/consent/", consenting.consent, name="consent"),
    path("projects/<slug:slug>/inquiries/", inquiring.inquiries, name="inquiries"),
    path("projects/<slug:slug>/practice/<str:type>/", practising.practice, name="practice"),
    # importing
    path("projects/<slug:slug>/sources/", importing.sources, name="sources"),
    path("projects/<slug:slug>/sources/import/", importing.import_new, name="import_new"),
    path("sources/<str:public_id>/", importing.source, name="source"),
    path("examples/<str:public_id>/", importing.example, name="example"),
    path("projects/<slug:slug>/study/", studying.study, name="study"),
    path("projects/<slug:slug>/templates/", study_templates.study_templates, name="study_templates"),
    path("projects/<slug:slug>/perturbations/", perturbing.perturbations, name="perturbations"),
    # assigning
    path("projects/<slug:slug>/payments/", paying.payments, name="payments"),
    path("projects/<slug:slug>/statement/", statements.statement, name="statement"),
    path("projects/<slug:slug>/about-me/", statements.about_me, name="about_me"),
    path("projects/<slug:slug>/fooling/", fooling.report, name="fooling"),
    path("projects/<slug:slug>/batches/new/", assigning.batch_new, name="batch_new"),
    path("projects/<slug:slug>/batches/new/answers/", assigning.model_answers, name="model_answers"),
    path("batches/<str:public_id>/", assigning.batch, name="batch"),
    path("batches/<str:public_id>/report/", assigning.report, name="batch_report"),
    path("batches/<str:public_id>/open/", assigning.open_batch, name="open_batch"),
    path("batches/<str:public_id>/close/", assigning.close_batch, name="close_batch"),
    path("batches/<str:public_id>/people/", sharing.batch_people, name="batch_people"),
    path("batches/<str:public_id>/change/", sharing.change_batch, name="change_batch"),
    path("projects/<slug:slug>/batches/act/", sharing.act_on_batches, name="act_on_batches"),
    path("projects/<slug:slug>/accounting/", sharing.accounts, name="accounting"),
    path("batches/<str:public_id>/panel/", assigning.panel, name="batch_panel"),
    path("batches/<str:public_id>/proposals/", assigning.propose, name="batch_propose"),
    path("batches/<str:public_id>/drawing/", assigning.draw, name="batch_drawing"),
    # dashboards
    path("projects/<slug:slug>/agreement/", dashboards.agreement_page, name="agreement"),
    path("projects/<slug:slug>/dashboard/", dashboards.dashboard, name="dashboard"),
    path("batches/<str:public_id>/quality/", dashboards.quality, name="batch_quality"),
    path(
        "figures/<slug:of>/<str:key>/<slug:name>.<slug:format>", figure_files.figure_file, name="figure_file"
    ),
    # before and beside the items
    path("batches/<str:public_id>/entry/", qualifying.entry, name="entry"),
    path("batches/<str:public_id>/gold/", golding.gold_items, name="gold"),
    path("batches/<str:public_id>/gold/new/", golding.gold_new, name="gold_new"),
    path("batches/<str:public_id>/feedback/", golding.feedback, name="gold_feedback"),
    path("batches/<str:public_id>/calibration/", calibrating.calibration, name="calibration"),
    path("batches/<str:public_id>/try/", trying.try_batch, name="try_batch"),
    # annotating
    path("batches/<str:public_id>/annotate/", annotating.annotate, name="annotate"),
    path("batches/<str:public_id>/worked-examples/", own_work.worked, name="worked_examples"),
    path("work/", own_work.my_work, name="my_work"),
    path("work/<str:public_id>/", annotating.resume, name="resume"),
    # adjudicating
    path("batches/<str:public_id>/adjudication/", adjudicating.adjudication, name="adjudication"),
    path("batches/<str:public_id>/rule/", adjudicating.batch_rule, name="batch_rule"),
    path(
        "projects/<slug:slug>/adjudication/", adjudicating.project_adjudication, name="project_adjudication"
    ),
    path("items/<str:public_id>/adjudicate/", adjudicating.adjudicate, name="adjudicate"),
    path("items/<str:public_id>/adjudicate/own/", adjudicating.own_response, name="own_response"),
    # releasing
    path("projects/<slug:slug>/releases/", releasing.releases, name="releases"),
    path("releases/<str:public_id>/", releasing.release, name="release"),
    path("releases/<str:public_id>/download/", releasing.download, name="download"),
    path("projects/<slug:slug>/methods/", methods.project_methods, name="methods"),
    path("projects/<slug:slug>/methods/<slug:format>/", methods.project_methods_file, name="methods_file"),
    path(
        "releases/<str:public_id>/methods/<slug:format>/",
        methods.release_methods_file,
        name="release_methods",
    ),
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
