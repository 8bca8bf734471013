import { isJsonObject } from '../../../../shared/json/jsonObject.ts';
import type { Difference } from './differences.ts';
import type { RecordedCase } from './recordedCase.ts';

/** A deliberate difference. All conditions that a row has must hold. */
interface Deliberate {
  /** What this service does, and the section of docs/zitadel.md that gives the reason. */
  readonly what: string;
  readonly part?: RegExp;
  readonly path?: RegExp;
  /** The case's name. */
  readonly name?: RegExp;
  /** Which side has a value. */
  readonly only?: 'zitadel' | 'ours';
  readonly test?: (difference: Difference, recorded: RecordedCase) => boolean;
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

/** The deliberate differences. */
const deliberateDifferences: readonly Deliberate[] = [
  {
    what: 'invents no domain (9.1)',
    path: /\.domains(\[\])?$/,
    only: 'zitadel',
    test: ({ zitadel }) => areGenerated(zitadel),
  },
  { what: 'invents no domain (9.1)', name: /^domain: generated one in capitals$/ },
  {
    what: 'reports no domain as taken that is only unverified (9.1)',
    name: /^domain: same in two organisations, unverified$/,
  },
  {
    what: 'takes a repeated equal domain (9.1)',
    part: /^error missing$/,
    test: ({ zitadel }) => /V2-e1wse/.test(messageOf(zitadel)),
  },
  {
    what: 'fills in no display name and no language (9.1)',
    path: /\.profile\.(?:displayName|preferredLanguage)$/,
    only: 'zitadel',
  },
  {
    what: 'exports a language in a form that an import accepts (9.1)',
    path: /\.profile\.preferredLanguage$/,
    test: ({ zitadel }) => text(zitadel).length > 10,
  },
  {
    what: 'has no error for a verified domain (9.1)',
    part: /^error missing$/,
    test: ({ zitadel }) => typeOf(zitadel) === 'domain_isverified',
  },
  { what: 'keeps domains unverified (9.1)', path: /\.domains\[\]\.isVerified$/, only: 'zitadel' },
  { what: 'keeps the texts of all kinds in their organisation (9.1)', path: MESSAGE_TEXTS, only: 'ours' },
  {
    what: 'exports the id of a service user where ZITADEL reads it (4.3)',
    part: /^exported$/,
    path: /\.machineUsers\[\]\.user\.userId$/,
    only: 'ours',
  },
  { what: 'exports what ZITADEL loses (9.3)', path: LOST_FIELDS, only: 'ours' },
  { what: 'exports all flows (9.3)', name: /^flow:/, path: /\.triggerActions$/, only: 'ours' },
  { what: 'carries keys only on request (9.1)', path: /\.(?:appKeys|machineKeys)$/, only: 'zitadel' },
  {
    what: 'carries keys only on request (9.1)',
    part: /^error/,
    test: ({ zitadel }) => /^(?:app_key|machine_user_key)$/.test(typeOf(zitadel)),
  },
  {
    what: 'lists no action ids among roles (9.1)',
    part: /^success$/,
    path: /\.projectRoles(?:\[\])?$/,
    only: 'zitadel',
  },
  {
    what: 'counts equal content as unchanged (9.1)',
    part: /^error missing$/,
    test: ({ zitadel }, { name, before }) =>
      (before.length > 0 || /twice/.test(name)) &&
      EQUAL_CONTENT.test(messageOf(zitadel)) &&
      !/other case|other value|name twice/.test(name),
  },
  {
    what: 'takes names that look alike for one (9.2)',
    name: /^user name: twice, composed and decomposed$/,
  },
  {
    what: 'lists ids that it made (9.1)',
    part: /^success$/,
    test: ({ zitadel, ours }) => zitadel === '' && ours === '{{gen}}',
  },
  {
    what: 'keeps the ids of service users (9.1)',
    path: /userId$/,
    test: ({ zitadel, ours }) => zitadel === '{{gen}}' && /^\{\{m\d\}\}$/.test(text(ours)),
  },
  { what: 'keeps states (9.1)', path: /humanUsers\[\]\.state$/ },
  { what: 'keeps verified addresses (9.1)', path: /\.email\.isEmailVerified$/, only: 'ours' },
  {
    what: 'imports a TOTP seed only with its person (9.1)',
    part: /^error missing$/,
    test: ({ zitadel }) => typeOf(zitadel) === 'human_user_otp',
  },
  {
    what: 'limits the time of a request itself (9.2, 9.3)',
    name: /^timeout:|export timeout|body of spaces|empty body/,
  },
  { what: 'needs a source (9.2)', name: /import nothing but timeout/ },
  { what: 'needs an output (9.3)', name: /without response_output|response_output false/ },
  { what: 'uses outputs, or rejects them (9.3)', name: /gcs output|s3 output|local output/ },
  {
    what: 'rejects what follows the JSON (9.2)',
    name: /export trailing (?:data|brace)|second document|two documents|data after the document/,
  },
  { what: 'reaches every user id (9.4)', name: /delete id/ },
  { what: 'does not redirect // (9.4)', name: /double slash|empty user id/ },
  { what: 'ignores some headers (9.4)', name: /org header|unknown host|Grpc-Timeout/ },
  {
    what: 'describes wrong JSON in its own words (3.2)',
    part: /^message$/,
    test: ({ zitadel, ours }) =>
      typeof zitadel === 'string' &&
      typeof ours === 'string' &&
      /^(?:proto:|invalid character|unexpected EOF|json:)/.test(zitadel),
  },
  {
    what: 'tells nothing of the database (5.7)',
    part: /^message$/,
    test: ({ zitadel, ours }) => messageOf(zitadel).replace(/ Parent=\(.*\)$/s, '') === messageOf(ours),
  },
  { what: 'names the methods of a 405 (6.6)', part: /^header$/, path: /^\.allow$/, only: 'ours' },
  { what: 'does not depend on the order of organisations (9.1)', name: /of a later organisation/ },
  {
    what: 'reads both shapes as one (9.1)',
    name: /^v1: (?:.*lifetimes|domainPolicy|org state|.*strings of numbers|idps of the login policy|as a string)/,
  },
  { what: 'reads both shapes as one (2.1)', name: /^(?:flow: by number|json: dataOrgs a string)$/ },
  { what: 'keeps a login policy without its provider (9.2)', name: /^policy: login idp unknown/ },
  { what: 'rejects user names in foreign domains in any order (9.2)', name: /in the verified domain of another/ },
  { what: 'exports nothing as an empty list (4.2)', part: /^body$/, path: /^\.orgs$/, only: 'ours' },
  {
    what: 'exports no empty screens (9.3)',
    path: /loginTexts\[\]\.\w+$/,
    only: 'zitadel',
    test: ({ zitadel }) => text(zitadel) === '{}',
  },
  {
    what: 'describes wrong addresses in its own words (3.2)',
    name: /^email:/,
    part: /^message$/,
    test: ({ zitadel, ours }) => Boolean(zitadel) && Boolean(ours),
  },
  {
    what: 'keeps the first of two equal keys, and reports the other (8.1)',
    name: /^(?:metadata: key twice|text: login same language twice|flow: trigger twice|otp: same user twice)/,
  },
  {
    what: 'has ids that are unique in the instance (2)',
    name: /(?:same (?:project|id)|human and machine the same|id twice|idp twice|two projects)/,
  },
  { what: 'rejects empty ids (9.2)', name: /(?:id|grant): .*empty$/ },
  {
    what: 'keeps states (9.1)',
    name: /^state:/,
    test: ({ zitadel, ours }) => zitadel !== undefined && ours !== undefined,
  },
  { what: 'prefers the outer id of a service user (9.1)', name: /^id: machine with/ },
  { what: 'keeps the ids of service users (9.1)', name: /^metadata: machine without/ },
  {
    what: 'keeps a link without its provider (9.1)',
    name: /^link:/,
    part: /^error missing$/,
    test: ({ zitadel }) => /COMMAND-39nf2/.test(messageOf(zitadel)),
  },
  {
    what: 'rejects an unknown state (9.1)',
    name: /^state:/,
    test: ({ part, ours }) => ours === 400 || (part === 'message' && /unknown (?:orgS|s)tate/.test(text(ours))),
  },
  {
    what: 'hashes clear passwords at a cost of its own (5.6)',
    path: /hashedPassword\.value$/,
    test: ({ zitadel, ours }) => /^\$2a\$14\$/.test(text(zitadel)) && /^\$2[aby]\$1[0-6]\$/.test(text(ours)),
  },
  {
    what: 'keeps lifetimes of more than 292 years (9.1)',
    path: /Lifetime$/,
    test: ({ zitadel }) => /^9223372036\.8/.test(text(zitadel)),
  },
  { what: 'limits ids to 200 characters (9.2)', name: /^id: (?:human|organisation) length (?:201|500)$/ },
  {
    what: 'takes the members of other organisations’ projects as not carried (9.3)',
    name: /^member: project of another organisation$/,
  },
  {
    what: 'keeps a record under the organisation that contains it (9.1)',
    name: /^member: grant listed under the granted organisation$/,
  },
];

/** Differences that follow from another one of the same case. */
function isConsequence({ part, path, zitadel, ours }: Difference): boolean {
  if (part === 'code' || part === 'success' || part === 'header') return true;
  const isOneSided = zitadel === undefined || ours === undefined;
  return (
    (part === 'exported' && isOneSided && /^(?:\[\])?(?:\.\w+)?(?:\[\])?$/.test(path)) ||
    (part === 'body' && path === '.orgs')
  );
}

/** Whether every difference of a case is deliberate, or follows from one that is. */
export function isDeliberate(recorded: RecordedCase, found: readonly Difference[]): boolean {
  const explained = found.map((difference) => ({
    difference,
    row: deliberateDifferences.find((candidate) => matches(candidate, difference, recorded)),
  }));
  const open = explained.filter(({ row }) => row === undefined).map(({ difference }) => difference);
  const hasCause = explained.some(
    ({ difference, row }) => row !== undefined && /^(?:error|status|message)/.test(difference.part),
  );
  return open.length === 0 || (hasCause && open.every(isConsequence));
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
