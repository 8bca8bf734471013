import type { Difference } from './differences.ts';
import { isJsonObject } from './jsonObject.ts';
import type { RecordedCase } from './recordedCase.ts';

/** The conditions of a deliberate difference, all of which must hold. */
export interface When {
  readonly part?: RegExp;
  readonly path?: RegExp;
  /** The case's name. */
  readonly name?: RegExp;
  /** The side that has a value. */
  readonly only?: 'zitadel' | 'ours';
  readonly test?: (difference: Difference, recorded: RecordedCase) => boolean;
}

/** A deliberate difference. */
export interface Deliberate extends When {
  /** The section of docs/zitadel.md that documents the difference. */
  readonly section: string;
  /** The behaviour of this service, in the words of the section. */
  readonly here: string;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
const messageOf = (value: unknown): string => (isJsonObject(value) ? text(value.message) : text(value));
const typeOf = (value: unknown): string => (isJsonObject(value) ? text(value.type) : '');
const isGenerated = (domain: unknown) => isJsonObject(domain) && /\{\{hostname\}\}$/.test(text(domain.domainName));
const areGenerated = (domains: unknown) => (Array.isArray(domains) ? domains.every(isGenerated) : isGenerated(domains));

const MESSAGE_TEXTS =
  /\.(?:verifyPhone|verifySmsOtp|verifyEmailOtp|inviteUser|init|passwordReset|verifyEmail|domainClaimed|passwordlessRegistration)Messages$/;
const LOST_FIELDS =
  /\.(?:themeMode|allowDomainDiscovery|disableLoginWithEmail|disableLoginWithPhone|accessTokenType|backChannelLogoutUri|loginVersion|passwordChangeRequired|requestPasswordlessRegistration|validationType|details|idps|linkingUserPromptText)$/;
const EQUAL_CONTENT = /AlreadyExist|NoChanges|AlreadyReady|Already\.Exists|NotChanged|already/i;

/** The differences by their sections of docs/zitadel.md, and by the behaviour of this service in the words of a section. */
const rows: Readonly<Record<string, Readonly<Record<string, When | readonly When[]>>>> = {
  '9.2': {
    'the second is `V3-DKcYh`, or `COMMAND-SFd21` behind an `@`': {
      name: /^user name: twice, composed and decomposed$/,
    },
    'the default is `MAX_TIMEOUT`; at the timeout 504 with the progress': {
      name: /^timeout:|^import: timeout|body of spaces|http: import empty body|^import: empty body/,
    },
    '| no source: 200 | 400 |': {
      name: /import nothing but timeout|^import: (?:gcs_input|neither source|unknown field only|wrong-case field|\{\}$)/,
    },
    '| drops what follows the JSON in a body | 400 |': {
      name: /export trailing (?:data|brace)|second document|two documents|data after the document/,
    },
    'keeps them, with a warning': [
      { name: /^policy: login idp unknown/ },
      { name: /^link:/, part: /^error missing$/, test: ({ zitadel }) => /COMMAND-39nf2/.test(messageOf(zitadel)) },
    ],
    'rejects it in any order': { name: /in the verified domain of another/ },
    'a record has at most 1 MB': { name: /^import: body 4\.3 MB$/ },
    'reads it within the call': { name: /^import: dataOrgsGcs/ },
    '501, code 12, naming `data_orgsv1_gcs`': { name: /^import: (?:dataOrgsS3|dataOrgsLocal|two oneof)/ },
    '| as a string too |': { name: /^import: dataOrgsv1 as JSON string$/ },
  },
  '9.3': {
    'honours both; neither output is 400': {
      name: /without response_output|response_output false|export timeout|^export: (?:bad timeout|gcs_output|neither|empty body)/,
    },
    '501, code 12, naming `gcs_output`': { name: /gcs output|s3 output|local output/ },
    'IAM_OWNER only': { name: /^export: IAM_OWNER_VIEWER/ },
  },
  '9.4': {
    'reaches every user id; a path that is not UTF-8 is 400': {
      name: /delete id|^delete otp: (?:NUL|bad percent|id with encoded slash|invalid UTF-8|user id 200 multi)/,
    },
    '404, 400, CORS for `CORS_ORIGINS` only': {
      name: /double slash|empty user id|OPTIONS export|form method override|empty segment/,
    },
    '| ignores them |': { name: /org header|x-zitadel-orgid|unknown host|Grpc-Timeout/ },
    '403 for every caller without permission': {
      name: /no membership$|user in another org|service user without role$/,
    },
    'the token first': { name: /^import: (?:body 4\.3 MB|malformed JSON,) no auth$/ },
    '| as JSON only |': { name: /^grpc-web\S* ExportData/ },
    '| `details` of a removal lacks `creationDate` | has it |': { path: /^\.details\.creationDate$/, only: 'ours' },
  },
  '9.5': {
    'writes them to the organisation that contains them': { path: MESSAGE_TEXTS, only: 'ours' },
    'exports everything that was imported': [
      { path: LOST_FIELDS, only: 'ours' },
      { name: /^flow:/, path: /\.triggerActions$/, only: 'ours' },
    ],
    'keeps their states': [
      { path: /humanUsers\[\]\.state$/ },
      { name: /^state:/, test: ({ zitadel, ours }) => zitadel !== undefined && ours !== undefined },
    ],
    'keeps states and addresses': { path: /\.email\.isEmailVerified$/, only: 'ours' },
    'an import counts members under other organisations as not carried': {
      name: /^member: project of another organisation$/,
    },
    'keeps them in the organisation that contains them': {
      name: /^member: grant listed under the granted organisation$/,
    },
  },
  '4.3': {
    'ZITADEL reads the id only there': { part: /^exported$/, path: /\.machineUsers\[\]\.user\.userId$/, only: 'ours' },
    'from ZITADEL only, all 34 screens of login texts': {
      path: /loginTexts\[\]\.\w+$/,
      only: 'zitadel',
      test: ({ zitadel }) => text(zitadel) === '{}',
    },
    'or by an import into ZITADEL alone': {
      path: /\.profile\.(?:displayName|preferredLanguage)$/,
      only: 'zitadel',
    },
  },
  '4.2': {
    'An instance without organisations exports `{}` at ZITADEL and `{"orgs":[],…}` here.': {
      part: /^body$/,
      path: /^\.orgs$/,
      only: 'ours',
    },
  },
  '3.2': {
    "Errors of the JSON itself have texts of their own; status and code are ZITADEL's.": {
      part: /^message$/,
      test: ({ zitadel, ours }) =>
        typeof zitadel === 'string' &&
        typeof ours === 'string' &&
        /^(?:proto:|invalid character|unexpected EOF|json:|unmarshal message)/.test(zitadel),
    },
  },
  '5.7': {
    '`message` is `ID=<id> Message=<key>`': {
      part: /^message$/,
      test: ({ zitadel, ours }) => messageOf(zitadel).replace(/ Parent=\(.*\)$/s, '') === messageOf(ours),
    },
  },
  '2': {
    'unique within the instance': {
      name: /(?:same (?:project|id)|human and machine the same|id twice|idp twice|two projects)/,
    },
  },
  '6.4': { 'The body is `google.rpc.Status` as JSON': { name: /^connect (?:GET|text)/ } },
  '5.5': { '; here it keeps none': { name: /^grant: project grant id empty$/ } },
  '6.3': { 'here only the command sets it': { name: /^POST otp_email|^otp-email: (?:add|otp on user)/ } },
  '1.2': { 'All other requests of ZITADEL are unknown paths.': { name: /^otp-email: delete (?:user|otp of removed)/ } },
  '9.1': {
    "generates none, and imports the file's as it is written": [
      { path: /\.domains(\[\])?$/, only: 'zitadel', test: ({ zitadel }) => areGenerated(zitadel) },
      { name: /^domain: generated one in capitals$/ },
      { path: /\.domains\[\]\.isVerified$/, only: 'zitadel' },
    ],
    'reads the other forms of specification 2.5 too': { name: /^(?:json:|http: export) byte order mark$/ },
    'several organisations can have the same unverified domain': {
      name: /^domain: same in two organisations, unverified$/,
    },
    'counts a record with equal content as unchanged': [
      { part: /^error missing$/, test: ({ zitadel }) => /V2-e1wse/.test(messageOf(zitadel)) },
      {
        part: /^error missing$/,
        test: ({ zitadel }, { name, before }) =>
          (before.length > 0 || /twice/.test(name)) &&
          EQUAL_CONTENT.test(messageOf(zitadel)) &&
          !/other case|other value|name twice/.test(name),
      },
    ],
    'and reports no such domain': {
      part: /^error missing$/,
      test: ({ zitadel }) => typeOf(zitadel) === 'domain_isverified',
    },
    'imports them only with `with_keys`': [
      { path: /\.(?:appKeys|machineKeys)$/, only: 'zitadel' },
      { part: /^error/, test: ({ zitadel }) => /^(?:app_key|machine_user_key)$/.test(typeOf(zitadel)) },
    ],
    'keeps their ids': [
      { path: /userId$/, test: ({ zitadel, ours }) => zitadel === '{{gen}}' && /^\{\{m\d\}\}$/.test(text(ours)) },
      { name: /^id: machine with/ },
      { name: /^metadata: machine without/ },
    ],
    'writes a person with all credentials or not at all': {
      part: /^error missing$/,
      test: ({ zitadel }) => typeOf(zitadel) === 'human_user_otp',
    },
    'accepts organisations in any order': { name: /of a later organisation/ },
    'imports texts in every known language': { name: /^text: init language of 3 parts$/ },
    'or keeps it with a warning': {
      name: /^link: inside the user, unknown idp$/,
      path: /^$|\.(?:humanUserIds|humanUsers|userLinks)$/,
    },
    'does not carry it and its members, with a warning': { name: /^grant: project grant to itself$/ },
    'imports the first; the others are errors': {
      name: /^(?:metadata: key twice|text: login same language twice|flow: trigger twice|otp: same user twice)/,
    },
  },
  '2.1': {
    'accepts every field of either shape under every source': [
      { name: /^v1: (?:.*lifetimes|domainPolicy|org state|.*strings of numbers|idps of the login policy|as a string)/ },
      { name: /^(?:flow: by number|json: dataOrgs a string)$/ },
    ],
  },
  '2.5': {
    'whose canonical tag has more than 10 characters stays as it is; comparisons treat both as equal': {
      path: /\.profile\.preferredLanguage$/,
      test: ({ zitadel }) => text(zitadel).length > 10,
    },
    'a text that is not one number in digits stays as it is, with a warning': [
      { name: /^phone: (?:letters|vanity)$/, path: /\.user\.phone\.phone$/ },
      {
        name: /^phone: /,
        part: /^error missing$/,
        test: ({ zitadel }) => /PHONE-so0wa/.test(messageOf(zitadel)),
      },
    ],
    '| absent, with a warning.': { name: /unknown number$|enum undefined number$/ },
    'ZITADEL activates such people': [
      {
        name: /^state:/,
        test: ({ part, zitadel, ours }) =>
          /unknown (?:orgS|s)tate|state of a deleted record/.test(messageOf(ours)) ||
          (/^(?:success|exported)$/.test(part) && zitadel !== undefined),
      },
      { name: /^import: unknown enum name$/ },
    ],
    'removed on an own project if no such project grant exists': { name: /^grant: user grant unknown project grant$/ },
  },
  '5.6': {
    'by default at cost 12': {
      path: /hashedPassword\.value$/,
      test: ({ zitadel, ours }) => /^\$2a\$14\$/.test(text(zitadel)) && /^\$2[aby]\$1[0-6]\$/.test(text(ours)),
    },
  },
  '5.8': {
    'The ids are those that the records have': [
      { part: /^success$/, path: /\.projectRoles(?:\[\])?$/, only: 'zitadel' },
      { part: /^success$/, test: ({ zitadel, ours }) => zitadel === '' && ours === '{{gen}}' },
    ],
  },
  '3.3': {
    'e-mail addresses with letters outside ASCII, if the domain is one in DNS': {
      name: /^email: (?:emoji|unicode domain)$/,
    },
    'and those of other releases': {
      name: /^email: (?:two dots|leading dot|dot before at|underscore in domain|local part 65|label 64|length 300|hyphen ends a label|address literal)$/,
    },
    'texts above their limits': {
      name: /(?:201(?: runes)?|321|501|40001 bytes|2001 bytes|500,001 byte value|> 2000 bytes|preferredLanguage 11|timeout (?:21s|20\.000000001s)|display name empty|script empty|(?:oidc|jwt) empty \w+(?: id)?)$/,
    },
    'lifetimes of login policies of any length': {
      path: /Lifetime$/,
      test: ({ zitadel }) => /^9223372036\.8/.test(text(zitadel)),
    },
    'and imports the rest of the record': {
      name: /^policy: (?:label (?:4 digits|8 digits|bad|space)|login (?:multi factor unspecified|redirect (?:no url|relative))|privacy e-mail with spaces)|^oidc app: login version 2 bad uri$|^flow: one known, one unknown$/,
    },
    'the record is listed in `errors`, and the others are imported': {
      test: ({ part, ours }, { zitadel: { status, body } }) =>
        status === 400 &&
        /^(?:invalid ImportDataRequest|proto:)/.test(messageOf(body)) &&
        (part === 'status' ? ours === 200 : !/^(?:code|message)$/.test(part) || ours === undefined),
    },
  },
};

/** Returns the differences that a section documents. */
export function inSection(section: string, behaviours: (typeof rows)[string]): Deliberate[] {
  return Object.entries(behaviours).flatMap(([here, conditions]) =>
    [conditions].flat().map((when) => ({ section, here, ...when })),
  );
}

/** The deliberate differences. */
export const deliberateDifferences = Object.entries(rows).flatMap(([section, found]) => inSection(section, found));

/** Differences that follow from another difference of the same case. */
function isConsequence({ part, path, zitadel, ours }: Difference): boolean {
  if (part === 'code' || part === 'success' || part === 'header') return true;
  const isOneSided = zitadel === undefined || ours === undefined;
  return (
    (part === 'exported' && isOneSided && /^(?:\[\])?(?:\.\w+)?(?:\[\])?$/.test(path)) ||
    (part === 'body' && path === '.orgs')
  );
}

/** Returns the rows that explain a case's differences; undefined if a difference is neither in a row nor a consequence. */
export function reasonsOf(
  rows: readonly Deliberate[],
  recorded: RecordedCase,
  found: readonly Difference[],
): Deliberate[] | undefined {
  const rowOf = (difference: Difference) => rows.find((row) => matches(row, difference, recorded));
  const explained = found.map((difference) => ({ difference, row: rowOf(difference) }));
  const hasCause = explained.some(
    ({ difference, row }) => row !== undefined && /^(?:error|status|message)/.test(difference.part),
  );
  const isExplained = explained.every(
    ({ difference, row }) => row !== undefined || (hasCause && isConsequence(difference)),
  );
  return isExplained ? [...new Set(explained.flatMap(({ row }) => row ?? []))] : undefined;
}

function matches(
  { part, path, name, only, test }: Deliberate,
  difference: Difference,
  recorded: RecordedCase,
): boolean {
  if (part !== undefined && !part.test(difference.part)) return false;
  if (path !== undefined && !path.test(difference.path)) return false;
  if (name !== undefined && !name.test(recorded.name)) return false;
  if (only === 'zitadel' && difference.ours !== undefined) return false;
  if (only === 'ours' && difference.zitadel !== undefined) return false;
  return test === undefined || test(difference, recorded);
}
