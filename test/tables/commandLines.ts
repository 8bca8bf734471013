import { generateToken } from '../../shared/auth/token.ts';

// Words are separated by spaces; a word in quotation marks is JSON.

const noDatabase = 'specify either --data DIR (self-hosted) or --firestore PROJECT[/DATABASE]';
const spans = 'specify a duration such as 30d, 12h, 45m or 90s';
const files = 'specify a path; the path of a file with the name - is ./-';
const ports = 'specify a number from 0 to 65535 (0 selects a free port)';
const hosts = 'specify an address of this machine, such as 127.0.0.1';
const ids = 'specify an id of 1 to 200 characters';
const tokenIds = 'specify the 32 digits that `identity pat list` shows, not the token itself';
const tokenGiven = 'is a token, and other users can read command lines: store the token in a file';
const secretGiven = 'is not the path of a file: specify the file with the secret, not the secret itself';
const either = 'specify either TOKEN_ID or --all --user ID';
const lifetimes = 'specify a lifetime such as 30d, 12h, 45m or 90s, at most 90d (MAX_TOKEN_DAYS)';
const long = 'x'.repeat(201);
const secretKinds = 'some of passwords,otp,keys, or all, or none';
const noSecrets = `missing option --with: specify the secrets to move: ${secretKinds}`;
const streams =
  'this command reads its places more than once, which - (standard input or output) does not permit: specify a file';
const onePlace = /is both the source and the target: specify two places$/;
const manyIds = Array.from({ length: 201 }, (_, index) => index).join(' ');

/** A call, the name of its command, and its parsed arguments and options, without those that were not given. */
type ParsedRow = readonly [line: string, name: string, given: readonly unknown[], options: object];

/** Calls without a mistake. */
export const parsedCalls: readonly ParsedRow[] = [
  ['pat list --user x --data d', 'pat list', [], { user: 'x', data: 'd' }],
  [`user lock ${'x'.repeat(200)} --data d`, 'user lock', ['x'.repeat(200)], { data: 'd' }],
  [`user lock ${'𝔘'.repeat(200)}`, 'user lock', ['𝔘'.repeat(200)], {}],
  ['serve --host ::1 --port 0', 'serve', [], { host: '::1', port: 0 }],
  ['serve --host localhost --port=65535', 'serve', [], { host: 'localhost', port: 65_535 }],
  [
    'pat create --user 1 --expires 90s --only export,import,export --json',
    'pat create',
    [],
    { user: '1', expires: { text: '90s', milliseconds: 90_000 }, only: [['export', 'import']], json: true },
  ],
  ['init --expires 45m', 'init', [], { expires: { text: '45m', milliseconds: 2_700_000 } }],
  ['init --firestore project/north', 'init', [], { firestore: 'project/north' }],
  ['member add --user 1 --role ORG_OWNER', 'member add', [], { user: '1', role: 'ORG_OWNER' }],
  ['org delete a b --yes', 'org delete', [['a', 'b']], { yes: true }],
  ['export x --to y --org 1 --org=2', 'export', ['x'], { to: 'y', org: ['1', '2'] }],
  ['migrate --from a --to b', 'migrate', [], { from: 'a', to: 'b' }],
  ['migrate --from a --to b --dry-run', 'migrate', [], { from: 'a', to: 'b', 'dry-run': true }],
];

/** Calls with a mistake, and the only line of their errors. */
export const wrongCalls: Readonly<Record<string, string | RegExp>> = {
  nonsense: "unknown command 'nonsense': run identity --help",
  'sevre --data x': "unknown command 'sevre': did you mean serve?",
  'pat revok --data x': "unknown command 'revok': did you mean revoke?",
  'migrate perpare --yes': "unknown command 'perpare': did you mean prepare?",
  'pat crate': "unknown command 'crate': did you mean create?",
  'help pat crate': "unknown command 'pat crate': run identity pat --help",
  'pat create --usr 1': "unknown option '--usr': did you mean --user?",
  '--token=secret': "unknown option '--token': run identity --help",
  '--colour red': "unknown option '--colour': run identity --help",
  'init --colour red': "unknown option '--colour': run identity init --help",
  init: noDatabase,
  'init --data x --firestore y': noDatabase,
  'init --data ""': 'invalid --data "": specify a directory',
  'init --firestore a/b/c': 'invalid --firestore a/b/c: specify PROJECT or PROJECT/DATABASE',
  'init --data': "option '--data DIR' argument missing: run identity init --help",
  'init --data --json': 'missing value of --data: the next argument is --json',
  'init --expires 30': `invalid --expires 30: ${spans}`,
  'member add --org 1 --org 2': '--org is repeated: specify it once',
  'member add --user 1': 'missing option --role: run identity member add --help',
  'member add --user 1 --role QUEEN': /^invalid --role QUEEN: choose one of IAM_OWNER, .*, ORG_OWNER, /,
  'otp-email enable': "missing required argument 'USER_ID': run identity otp-email enable --help",
  'otp-email enable 1 2 --data x':
    'too many arguments: expected 1, but got 2: 1, 2: run identity otp-email enable --help',
  'otp-email remove https://a.example --token-file none.pat': 'specify the people: USER, or --file FILE',
  'otp-email remove ada --data ./none https://a.example --token-file none.pat':
    'an address, --data and --firestore are mutually exclusive: specify one of them',
  'otp-email remove ada https://a.example https://b.example':
    'several addresses, https://a.example and https://b.example: specify only one',
  'pat create': 'missing option --user: run identity pat create --help',
  'pat create --user ""': `invalid --user "": ${ids}`,
  'pat create --user 1 --expires "1 d"': `invalid --expires "1 d": ${spans}`,
  'pat create --user 1 --only export,all':
    'invalid --only export,all: specify some of export, import, otp-email, separated by commas',
  [`pat list --user ${JSON.stringify('\u001b[2J'.repeat(60))}`]: /^invalid --user "\\u001b/,
  [`pat revoke idpat_${'x'.repeat(51)}`]: `invalid TOKEN_ID idpat_${'x'.repeat(51)}: ${tokenIds}`,
  [`pat revoke ${generateToken()}`]: `invalid TOKEN_ID (a token): ${tokenIds}`,
  [`pat revoke 1 ${generateToken()}`]: /^too many arguments: .*: 1, \(a token\): run /,
  [generateToken()]: /^unknown command '\(a token\)': run identity --help$/,
  [`inspect https://a.example --token-file ${generateToken()}`]: `--token-file ${tokenGiven}`,
  [`inspect ${generateToken()}`]: `PLACE ${tokenGiven}`,
  [`inspect https://a.example --token-file ${'x_-'.repeat(24)}`]: `--token-file ${secretGiven}`,
  [`inspect https://a.example --token-file "Bearer ${'x_-'.repeat(24)}"`]: `--token-file ${secretGiven}`,
  [`inspect https://a.example --token-file ${'x'.repeat(300)}`]: `--token-file ${secretGiven}`,
  'inspect gs://exports/a.json --credentials-file "{\\"private_key\\":\\"x\\"}"': `--credentials-file ${secretGiven}`,
  'user list --org ""': `invalid --org "": ${ids}`,
  [`user lock ${long}`]: `invalid USER_ID ${long}: ${ids}`,
  'export firestore:p --to gs://exports/north.json --org a --exclude-org a':
    '--exclude-org excludes every organisation that --org selects: correct one of these options',
  'migrate --from sqlite:a': 'missing option --to: run identity migrate --help',
  'import sqlite:a --to sqlite:b': noSecrets,
  'import https://a.example --to sqlite:b --token-file none.pat': noSecrets,
  'migrate --from sqlite:a --to sqlite:b': noSecrets,
  'migrate --from sqlite:a --to sqlite:b --yes': noSecrets,
  'migrate --from sqlite:a --to sqlite:b --json': noSecrets,
  'migrate --from sqlite:a --to sqlite:b --dry-run': noSecrets,
  'migrate --from sqlite:a --to sqlite:b --with all,otp': `invalid --with all,otp: specify ${secretKinds}`,
  'migrate --from sqlite:a --to sqlite:./b/../a --with none': onePlace,
  'migrate --from https://NORTH.example:443 --to https://north.example/ --with none': onePlace,
  'migrate --from sqlite:a --to - --with none': streams,
  'migrate --from - --to sqlite:a --with none': streams,
  'migrate --from - --to sqlite:a --yes': streams,
  [`migrate --from sqlite:a --to sqlite:b --with none --dry-run --expect ${'0'.repeat(64)}`]:
    '--dry-run prints the digest that --expect needs: specify only one of these options',
  'migrate --from sqlite:a --to sqlite:b --with none --report report.pdf': /specify FILE\.html or FILE\.json/,
  'import a.json --to sqlite:b --max-deleted 1': /--max-deleted has no effect without --mirror/,
  'import a.json --to sqlite:b --replace-changed acme': /--replace-changed has no effect without --mirror/,
  'import a.json --to sqlite:b --yes': /--yes has no effect without --mirror/,
  'audit --since yesterday':
    'invalid --since yesterday: specify a duration such as 7d or 12h, or a date such as 2026-11-24 or 2026-11-24T08:00:00Z (UTC)',
  'serve --port 65536': `invalid --port 65536: ${ports}`,
  'serve --port http': `invalid --port http: ${ports}`,
  'serve --port -1': `invalid --port -1: ${ports}`,
  'serve --host "two words"': `invalid --host "two words": ${hosts}`,
  'serve --host ""': `invalid --host "": ${hosts}`,
  'backup ""': `invalid FILE "": ${files}`,
  'backup -': `invalid FILE -: ${files}`,
  'import a.json --to sqlite:b --failed -': `invalid --failed -: ${files}`,
  'pat create --user 1 --token-file -': `invalid --token-file -: ${files}`,
  'org delete 1 --data http://localhost:8080':
    /^http:\/\/localhost:8080 is an address: specify the instance's directory by --data DIR/,
};

/** Calls on an instance with a mistake, and how the only line of their errors begins. */
export const wrongCallsOnInstances: Readonly<Record<string, string>> = {
  'pat revoke': either,
  'pat revoke --all': either,
  'pat revoke --user 1': either,
  [`pat revoke --all --user 1 ${'a'.repeat(32)}`]: either,
  'pat create --user 1 --expires 0d': `invalid --expires 0d: ${lifetimes}`,
  'pat create --user 1 --expires 91d': `invalid --expires 91d: ${lifetimes}`,
  'org delete C "" --yes': `invalid ORG_ID "": ${ids}`,
  'org delete --yes': "missing required argument 'ORG_ID'",
  [`org delete ${manyIds} --yes`]: '201 organisations are too many: specify at most 200',
  // No import accepts these names either.
  ...Object.fromEntries(
    ['', ' ', long, 'a\nb', 'a\u001b[2Jb', 'a\u0085b'].map((name) => [
      `service-user create ${JSON.stringify(name)}`,
      'invalid name: ',
    ]),
  ),
};

/** Calls that need an instance. */
export const callsOnInstances: readonly string[] = [
  'serve --port 0',
  'pat list --user 1',
  'member add --user 1 --role IAM_OWNER',
  'service-user create robot',
  'otp-email enable 1',
  'backup copy',
];
