"""The forms of crowd entry."""

from datetime import date, datetime, time, timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy

from annotation.accounts.crowd_entry import PARAMETERS, PROLIFIC_RETURN


class CrowdLinkForm(forms.Form):
    """A new link for a crowd: where people come from, what they get at the end, how many and until when."""

    name = forms.CharField(
        max_length=80,
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("People are named by this name and a number."),
    )
    platform = forms.ChoiceField(
        choices=[
            ("prolific", gettext_lazy("Prolific")),
            ("generic", gettext_lazy("Another platform, or none")),
        ],
        initial="prolific",
        help_text=gettext_lazy(
            "Query parameters with the ids: PROLIFIC_PID, STUDY_ID, SESSION_ID, or id, study, session."
        ),
    )
    completion_code = forms.CharField(
        max_length=60, help_text=gettext_lazy("Shown to people who have finished.")
    )
    screen_out_code = forms.CharField(
        max_length=60,
        label=gettext_lazy("Screen-out code"),
        help_text=gettext_lazy("Shown to people who fail the qualification."),
    )
    return_url = forms.CharField(
        max_length=500,
        required=False,
        label=gettext_lazy("Return URL"),
        help_text=gettext_lazy(
            "Write {code} where the code belongs. Leave empty for the return URL of Prolific; "
            "other platforms then only show the code."
        ),
    )
    most = forms.IntegerField(
        min_value=1,
        required=False,
        label=gettext_lazy("Maximum number of people"),
        help_text=gettext_lazy("Leave empty for no limit."),
    )
    until = forms.DateField(
        label=gettext_lazy("Closes at the end of"),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        initial=lambda: timezone.localdate() + timedelta(days=30),
    )

    def clean_until(self) -> datetime:
        """The end of that day where the person who fills the form in is at home."""
        day: date = self.cleaned_data["until"]
        return timezone.make_aware(datetime.combine(day + timedelta(days=1), time()))

    def link(self) -> dict[str, Any]:
        """What `crowd_entry.make_link` wants to know."""
        link_fields = dict(self.cleaned_data)
        platform = link_fields.pop("platform")
        link_fields["expires_at"] = link_fields.pop("until")
        link_fields["parameters"] = PARAMETERS[platform]
        if platform == "prolific" and not link_fields["return_url"]:
            link_fields["return_url"] = PROLIFIC_RETURN
        return link_fields
