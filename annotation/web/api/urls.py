"""The addresses of the REST interface."""

from django.urls import path, re_path
from drf_spectacular.views import SpectacularAPIView

from annotation.web.api import (
    annotator_questions,
    assignments,
    batches,
    example_import,
    explorer,
    own_work,
    projects,
    quality,
    task_types,
)

urlpatterns = [
    # Addresses are tried in this order: first what is asked for with every item.
    path("assignments/<str:public_id>/submit/", assignments.Submit.as_view(), name="api_submit"),
    path("assignments/<str:public_id>/draft/", assignments.Draft.as_view(), name="api_draft"),
    path("assignments/<str:public_id>/ping/", assignments.Ping.as_view(), name="api_ping"),
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("projects/", assignments.Projects.as_view(), name="api_projects"),
    path("projects/<slug:slug>/releases/", assignments.MakeRelease.as_view(), name="api_make_release"),
    path("projects/<slug:slug>/study/", projects.StudyFile.as_view(), name="api_study"),
    path("projects/<slug:slug>/members/", projects.Members.as_view(), name="api_members"),
    path("projects/<slug:slug>/members/<str:pseudonym>/", projects.Member.as_view(), name="api_member"),
    path("projects/<slug:slug>/events/", projects.Events.as_view(), name="api_events"),
    path("projects/<slug:slug>/batches/", batches.PlanBatch.as_view(), name="api_plan_batch"),
    path(
        "projects/<slug:slug>/adjudication/",
        assignments.ProjectAdjudicationQueue.as_view(),
        name="api_project_adjudication",
    ),
    path("projects/<slug:slug>/items/", explorer.Items.as_view(), name="api_items"),
    path("projects/<slug:slug>/model-answers/", batches.ModelAnswers.as_view(), name="api_model_answers"),
    path(
        "projects/<slug:slug>/task-types/",
        task_types.ProjectTaskTypes.as_view(),
        name="api_project_task_types",
    ),
    path("projects/<slug:slug>/practice/<str:type>/", assignments.Practice.as_view(), name="api_practice"),
    path(
        "projects/<slug:slug>/practice/<str:type>/predictions/",
        assignments.PracticePredictions.as_view(),
        name="api_practice_predictions",
    ),
    path("task-types/<str:type>/work-out/", assignments.WorkOut.as_view(), name="api_work_out"),
    path("batches/", assignments.Batches.as_view(), name="api_batches"),
    path("batches/<str:public_id>/next/", assignments.Next.as_view(), name="api_next"),
    path(
        "batches/<str:public_id>/adjudication/",
        assignments.AdjudicationQueue.as_view(),
        name="api_adjudication",
    ),
    path("batches/<str:public_id>/history/", own_work.PastItems.as_view(), name="api_past_items"),
    path("batches/<str:public_id>/examples/", own_work.WorkedExamples.as_view(), name="api_worked_examples"),
    path(
        "batches/<str:public_id>/answers/", annotator_questions.ReadAnswers.as_view(), name="api_read_answers"
    ),
    path("batches/<str:public_id>/session/", own_work.Session.as_view(), name="api_session"),
    path("assignments/<str:public_id>/response/", own_work.PastResponse.as_view(), name="api_past_response"),
    path("task-types/", assignments.TaskTypes.as_view(), name="api_task_types"),
    path("releases/", assignments.Releases.as_view(), name="api_releases"),
    path("releases/<str:public_id>/download/", assignments.Download.as_view(), name="api_download"),
    path("assignments/<str:public_id>/skip/", assignments.Skip.as_view(), name="api_skip"),
    path("batches/<str:public_id>/try/", annotator_questions.Try.as_view(), name="api_try"),
    path(
        "batches/<str:public_id>/try/predictions/",
        annotator_questions.TryPredictions.as_view(),
        name="api_try_predictions",
    ),
    path("assignments/<str:public_id>/ask/", annotator_questions.Ask.as_view(), name="api_ask"),
    path("assignments/<str:public_id>/flag/", assignments.Flag.as_view(), name="api_flag"),
    path("assignments/<str:public_id>/return/", assignments.Return.as_view(), name="api_return"),
    path(
        "assignments/<str:public_id>/suggestions/", assignments.Suggestions.as_view(), name="api_suggestions"
    ),
    path("assignments/<str:public_id>/proposals/", assignments.Proposals.as_view(), name="api_proposals"),
    path("assignments/<str:public_id>/handle/", assignments.Handle.as_view(), name="api_handle"),
    path(
        "assignments/<str:public_id>/predictions/", assignments.Predictions.as_view(), name="api_predictions"
    ),
    path("assignments/<str:public_id>/ticket/", assignments.ModelTicket.as_view(), name="api_ticket"),
    path("annotations/<str:public_id>/undo/", assignments.Undo.as_view(), name="api_undo"),
    path("items/<str:public_id>/decide/", assignments.Decide.as_view(), name="api_decide"),
    path(
        "items/<str:public_id>/decision/undo/", assignments.UndoDecision.as_view(), name="api_undo_decision"
    ),
    path("items/<str:public_id>/send-back/", assignments.SendBack.as_view(), name="api_send_back"),
    path("items/<str:public_id>/explain/", batches.Explain.as_view(), name="api_explain"),
    path("batches/<str:public_id>/rule/", assignments.BatchRule.as_view(), name="api_batch_rule"),
    path("batches/<str:public_id>/state/", batches.State.as_view(), name="api_batch_state"),
    path("batches/<str:public_id>/change/", batches.Change.as_view(), name="api_batch_change"),
    path("batches/<str:public_id>/accounts/", batches.Accounts.as_view(), name="api_batch_accounts"),
    path("batches/<str:public_id>/agreement/", quality.Agreement.as_view(), name="api_agreement"),
    path("batches/<str:public_id>/gold/", quality.GoldItems.as_view(), name="api_gold"),
    path("batches/<str:public_id>/gold/<str:item>/", quality.GoldItem.as_view(), name="api_gold_item"),
    path("batches/<str:public_id>/simulation/", quality.Simulation.as_view(), name="api_simulation"),
    path("batches/<str:public_id>/shares/", batches.Move.as_view(), name="api_batch_shares"),
    path(
        "projects/<slug:slug>/crowd/<str:public_id>/admission/",
        batches.Admission.as_view(),
        name="api_crowd_admission",
    ),
    path("projects/<slug:slug>/uploads/", example_import.Uploads.as_view(), name="api_uploads"),
    path("projects/<slug:slug>/sources/", example_import.Sources.as_view(), name="api_sources"),
    path("uploads/<str:public_id>/", example_import.UploadSlice.as_view(), name="api_upload"),
    path("projects/<slug:slug>/imports/", example_import.Imports.as_view(), name="api_imports"),
    path(
        "projects/<slug:slug>/responses/",
        example_import.ResponsesImports.as_view(),
        name="api_import_responses",
    ),
    path("batches/<str:public_id>/labels/", example_import.LabelsImports.as_view(), name="api_import_labels"),
    path("projects/<slug:slug>/restore/", example_import.Restore.as_view(), name="api_restore"),
    path("jobs/<str:public_id>/", assignments.JobDetail.as_view(), name="api_job"),
    path("jobs/<str:public_id>/cancel/", assignments.JobCancel.as_view(), name="api_job_cancel"),
    re_path(r"", assignments.nothing_here),
]
