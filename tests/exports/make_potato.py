"""Write the states of two annotators with Potato's own code: `make_potato.py FOLDER`. Needs potato-annotation."""

import sys
from pathlib import Path

from potato.interaction_tracking import BehavioralData
from potato.item_state_management import Label
from potato.phase import UserPhase
from potato.user_state_management import InMemoryUserState

for user, kind, topics in (("ada", "read", ["film"]), ("bo", "computed", ["film", "sport"])):
    state = InMemoryUserState(user, 10)
    state.advance_to_phase(UserPhase.ANNOTATION, "annotation")
    for number, item in enumerate(("nu-0", "nu-1")):
        state.add_label_annotation(item, Label("kind", kind), kind)
        for topic in topics:
            state.add_label_annotation(item, Label("topics", topic), "true")
        state.add_label_annotation(item, Label("quality", "4"), "4")
        state.add_label_annotation(item, Label("why", "text_box"), "Read it.")
        state.instance_id_to_behavioral_data[item] = BehavioralData(
            instance_id=item, session_start=1746327700.0 + number, session_end=1746327721.0 + number
        )
    folder = Path(sys.argv[1]) / user
    folder.mkdir(parents=True)
    state.save(str(folder))
