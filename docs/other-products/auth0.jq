def filled(otherwise): if . == null or . == "" then otherwise else . end;
def listed: flatten | map(if type == "object" and (.users | type) == "array" then .users[] else . end);
def named: with_entries(.key |= (ascii_downcase | gsub(" "; "_"))) | .user_id = (.user_id // .id // error("a user without user_id: export this field too"));
def isTrue($field): .[$field] as $value | if $value == null then false elif ($value | tostring | IN("true", "false")) then ($value | tostring) == "true"
  else error("\($field) of \(.user_id) is \($value): write true or false") end;
def accounts: [.user_id, (.identities[]? | "\(.provider)|\(.user_id)")];
(listed | map(named)) as $users
| ($passwords | flatten | map({key: "auth0|\(._id."$oid")", value: .passwordHash}) | from_entries) as $hashes
| ((($hashes | keys) - ($users | map(accounts[])))[] | "no user for the password hash of \(.)" | debug | empty),
{orgs: [{orgId: "auth0", orgState: "ORG_STATE_ACTIVE", org: {name: "Auth0"},
  humanUsers: ($users | map((.username // .email // .phone_number // .user_id) as $name | (.nickname // $name) as $other
    | ([accounts[] | $hashes[.] // empty] | first) as $hash | {userId: .user_id,
    state: (if isTrue("blocked") then "USER_STATE_LOCKED" else "USER_STATE_ACTIVE" end),
    user: ({userName: $name,
        profile: {firstName: (.given_name | filled($other)), lastName: (.family_name | filled($other))},
        email: {email: (.email // ""), isEmailVerified: isTrue("email_verified")}}
      + if .phone_number then {phone: {phone: .phone_number, isPhoneVerified: isTrue("phone_verified")}} else {} end
      + if $hash then {hashedPassword: {value: $hash}} else {} end)}))}]}
