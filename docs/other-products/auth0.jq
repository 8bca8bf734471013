def filled(otherwise): if . == null or . == "" then otherwise else . end;
($passwords | map(select(.email)) | map({key: .email, value: .passwordHash}) | from_entries) as $hashes
| {orgs: [{orgId: "auth0", orgState: "ORG_STATE_ACTIVE", org: {name: "Auth0"},
  humanUsers: map((.username // .email // .phone_number // .user_id) as $name | (.nickname // $name) as $other | (.email // "") as $email | {userId: .user_id,
    state: (if .blocked then "USER_STATE_LOCKED" else "USER_STATE_ACTIVE" end),
    user: ({userName: $name,
        profile: {firstName: (.given_name | filled($other)), lastName: (.family_name | filled($other))},
        email: {email: $email, isEmailVerified: (.email_verified // false)}}
      + if .phone_number then {phone: {phone: .phone_number, isPhoneVerified: (.phone_verified // false)}} else {} end
      + if $hashes[$email] then {hashedPassword: {value: $hashes[$email]}} else {} end)})}]}
