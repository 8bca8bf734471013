"""What schemathesis cannot guess: texts of the formats that the description names."""

import json
import os

import schemathesis
from hypothesis import strategies as st

schemathesis.openapi.format("go-duration", st.from_regex(r"\A[1-5]?[1-9](\.[0-9]{1,3})?(s|m)\Z"))
schemathesis.openapi.format("gcs-bucket", st.just(os.environ["IDENTITY_BUCKET"]))
schemathesis.openapi.format("gcs-object", st.uuids().map(lambda id: f"{id}.json"))
schemathesis.openapi.format("service-account", st.just(os.environ["IDENTITY_KEY"]))
schemathesis.openapi.format("export-file", st.just(json.dumps({"orgs": []})))
