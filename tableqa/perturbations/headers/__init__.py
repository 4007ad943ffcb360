"""New names for columns: synonyms and abbreviations (RobuT 3.1), suggested with the reason, never applied."""

from tableqa.perturbations.headers.abbreviations import abbreviations
from tableqa.perturbations.headers.alternatives import Suggestion, SuggestionList, Unavailable
from tableqa.perturbations.headers.names import HeaderNames, NamesError
from tableqa.perturbations.headers.synonyms import synonyms
from tableqa.perturbations.headers.thesaurus import Thesaurus, thesaurus
