def secrets: if .secretData then (.secretData | fromjson) + (.credentialData | fromjson) else .value = (.hashedSaltedValue // .value) | .isClear = (.hashIterations == null) end;
def of($types): [.credentials[]? | select(.type | IN($types[])) | {type} + secrets];
def usual: .type != "hotp" and .subType != "hotp" and (.digits // 6) == 6 and (.period // 30) == 30 and (.algorithm // "HmacSHA1") == "HmacSHA1";
def parameter($name): .additionalParameters[$name][0];
def hash: if .algorithm == "argon2"
  then "$argon2\(parameter("type"))$v=19$m=\(parameter("memory")),t=\(.hashIterations),p=\(parameter("parallelism"))$" + ("\(.salt)$\(.value)" | gsub("="; ""))
  else "$\(.algorithm)$\(.hashIterations)$\(.salt)$\(.value)" end;
def base32: [explode[] as $byte | range(7; -1; -1) as $bit | $byte / pow(2; $bit) | floor % 2] as $bits
  | [range(0; $bits | length; 5) as $start | reduce range(5) as $bit (0; 2 * . + ($bits[$start + $bit] // 0))]
  | map("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[.:. + 1]) | join("");
def filled(otherwise): if . == null or . == "" then otherwise else . end;
def person: .username as $name | of(["otp", "totp", "hotp"]) as $otps
  | (if ($otps | map(select(usual))) != $otps then "left out: one-time passwords of \($name)" | debug else . end | empty),
  {userId: (.id // $name),
    state: (if .enabled then "USER_STATE_ACTIVE" else "USER_STATE_INACTIVE" end),
    user: ({userName: $name, profile: {firstName: (.firstName | filled($name)), lastName: (.lastName | filled($name))},
        email: {email: (.email // ""), isEmailVerified: (.emailVerified // false)}}
      + (of(["password"]) | first | if . == null then {} elif .isClear then {password: .value} else {hashedPassword: {value: hash}} end)
      + (if any(.credentials[]?; .temporary == true) or any(.requiredActions[]?; . == "UPDATE_PASSWORD") then {passwordChangeRequired: true} else {} end)
      + ($otps | map(select(usual)) | first | if . then {otpCode: (if .secretEncoding == "BASE32" then .value else .value | base32 end)} else {} end))};
def leftOut: (.credentials[]? | select(.type | IN("password", "otp", "totp", "hotp") | not) | "credentials of type \(.type)"),
  (.attributes // {} | keys[] | "attribute \(.)"),
  (("federatedIdentities", "realmRoles", "groups") as $field | select((.[$field] // []) != []) | $field),
  (select((.clientRoles // {}) != {}) | "clientRoles");
flatten | if any(.[].users[]?; true) then . else error("no users: export the realm with kc.sh export") end
| ([.[].users[]? | select(.serviceAccountClientId == null) | leftOut] | group_by(.)[] | "left out: \(.[0]) (\(length))" | debug | empty),
  {orgs: (group_by(.realm) | map(.[0].realm as $realm | {orgId: $realm, orgState: "ORG_STATE_ACTIVE", org: {name: $realm},
  humanUsers: [.[].users[]? | select(.serviceAccountClientId == null) | person]}))}
