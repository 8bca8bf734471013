import csv, io, json, sys

COLUMNS = ["id", "userName", "firstName", "lastName", "email", "emailVerified"]
VERIFIED = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False, "": False}

if len(sys.argv) != 2:
    sys.exit("usage: people-csv.py FILE.csv > people.json")
try:
    text = open(sys.argv[1], encoding="utf-8-sig", newline="").read()
    separator = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    names = [name.strip() for name in next(reader, [])]
    if wrong := [name for name in COLUMNS if names.count(name) != 1]:
        sys.exit(f"the first line needs each of these names once: {', '.join(wrong)}")
    people = []
    for values in reader:
        if not values:
            continue
        if len(values) != len(names):
            sys.exit(f"line {reader.line_num} has {len(values)} fields instead of {len(names)}")
        fields = dict(zip(names, values))
        verified = VERIFIED.get(fields["emailVerified"].strip().lower())
        if verified is None:
            sys.exit(f"line {reader.line_num}: emailVerified is {fields['emailVerified']!r}: write true or false")
        profile = {name: fields[name] for name in ("firstName", "lastName")}
        email = {"email": fields["email"], "isEmailVerified": verified}
        user = {"userName": fields["userName"], "profile": profile, "email": email}
        people.append({"userId": fields["id"], "state": "USER_STATE_ACTIVE", "user": user})
except FileNotFoundError:
    sys.exit(f"{sys.argv[1]} does not exist")
except UnicodeDecodeError:
    sys.exit(f"{sys.argv[1]} is not in UTF-8: save it in UTF-8, or convert it, such as with iconv -f WINDOWS-1252 -t UTF-8")
except csv.Error as error:
    sys.exit(f"line {reader.line_num}: {error}")

organisation = {"orgId": "csv", "orgState": "ORG_STATE_ACTIVE", "org": {"name": "CSV"}, "humanUsers": people}
json.dump({"orgs": [organisation]}, sys.stdout)
