"""What schemathesis cannot guess: texts of the formats that the description names."""

import json
import os

import schemathesis
from hypothesis import strategies as st
from schemathesis.core.parameters import ParameterLocation

schemathesis.openapi.format("go-duration", st.from_regex(r"\A[1-5]?[1-9](\.[0-9]{1,3})?(s|m)\Z"))
schemathesis.openapi.format("gcs-bucket", st.just(os.environ["IDENTITY_BUCKET"]))
schemathesis.openapi.format("gcs-object", st.uuids().map(lambda id: f"{id}.json"))
schemathesis.openapi.format("service-account", st.just(os.environ["IDENTITY_KEY"]))
schemathesis.openapi.format("export-file", st.just(json.dumps({"orgs": []})))
schemathesis.openapi.media_type("application/vnd.identity.export+json", st.just(b'{"orgs":[]}'))


@schemathesis.hook
def filter_case(context, case):
    """OpenAPI cannot say that an import ignores its query beside a JSON body: a wrong one is sent beside a file only."""
    is_ignored = case.path == "/admin/v1/import" and case.media_type == "application/json"
    return not (is_ignored and case.meta.is_negative_at(ParameterLocation.QUERY))
