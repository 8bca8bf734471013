def secret($type): [.credentials[]? | select(.type == $type) | (.secretData | fromjson) + (.credentialData | fromjson)] | first;
def usual: (.digits // 6) == 6 and (.period // 30) == 30 and (.algorithm // "HmacSHA1") == "HmacSHA1" and .subType != "hotp";
def parameter($name): .additionalParameters[$name][0];
def hash: if .algorithm == "argon2"
  then "$argon2\(parameter("type"))$v=19$m=\(parameter("memory")),t=\(.hashIterations),p=\(parameter("parallelism"))$" + ("\(.salt)$\(.value)" | gsub("="; ""))
  else "$\(.algorithm)$\(.hashIterations)$\(.salt)$\(.value)" end;
def base32: [explode[] as $byte | range(7; -1; -1) as $bit | $byte / pow(2; $bit) | floor % 2] as $bits
  | [range(0; $bits | length; 5) as $start | reduce range(5) as $bit (0; 2 * . + ($bits[$start + $bit] // 0))]
  | map("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[.:. + 1]) | join("");
def filled(otherwise): if . == null or . == "" then otherwise else . end;
{orgs: [{orgId: .realm, orgState: "ORG_STATE_ACTIVE", org: {name: .realm},
  humanUsers: [.users[] | select(.serviceAccountClientId == null) | .username as $name | {userId: .id,
    state: (if .enabled then "USER_STATE_ACTIVE" else "USER_STATE_INACTIVE" end),
    user: ({userName: $name, profile: {firstName: (.firstName | filled($name)), lastName: (.lastName | filled($name))},
        email: {email: (.email // ""), isEmailVerified: (.emailVerified // false)}}
      + (secret("password") | if . then {hashedPassword: {value: hash}} else {} end)
      + (secret("otp") | if . and usual then {otpCode: (if .secretEncoding == "BASE32" then .value else .value | base32 end)} else {} end))}]}]}
