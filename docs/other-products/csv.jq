ltrimstr("\ufeff") | if contains("\"") then error("a field is in quotes: save the list with a separator that no field contains") else . end
| split("\r?\n"; null) | map(select(. != "")) | (if .[0] | contains(";") then ";" else "," end) as $separator
| map(split($separator)) | .[0] as $names
| (["id", "userName", "firstName", "lastName", "email", "emailVerified"] - $names) as $missing
| if $missing != [] then error("the first line lacks \($missing | join(", "))") else . end
| {orgs: [{orgId: "csv", orgState: "ORG_STATE_ACTIVE", org: {name: "CSV"},
  humanUsers: (.[1:] | map(. as $values
    | if length == ($names | length) then . else error("not \($names | length) fields: \($values)") end
    | reduce range($names | length) as $index ({}; .[$names[$index]] = $values[$index])
    | {userId: .id, state: "USER_STATE_ACTIVE",
      user: {userName, profile: {firstName, lastName}, email: {email, isEmailVerified: (.emailVerified == "true")}}}))}]}
