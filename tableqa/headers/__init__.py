"""New names for columns: synonyms and abbreviations (RobuT 3.1), suggested with the reason, never applied."""

from tableqa.headers.abbreviations import abbreviations
from tableqa.headers.names import HeaderNames, NamesError
from tableqa.headers.suggestions import Suggested, Suggestion, Unavailable
from tableqa.headers.synonyms import synonyms
from tableqa.headers.thesaurus import Thesaurus, thesaurus
