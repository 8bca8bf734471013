import { z } from 'zod';
import { type Deliberate, inSection, type When } from './deliberate.ts';
import { isJsonObject } from './jsonObject.ts';

/** A release of ZITADEL, by its number or by the month of its build. */
export const zitadelRelease = z.enum(['2.71', '4.0', '2026-07']);

const messageOf = (value: unknown) => String(isJsonObject(value) ? value.message : value);
const idOf = (value: unknown) => /ID=(\S+)/.exec(messageOf(value))?.[1] ?? '';
const WITHOUT_ID = / \(\)$/;
const TAIL = / Parent=.*$/s;

/** The recorded export came before the projection of the key. */
const lateKey = { 'an application key without an id is in later exports only': { name: /^app key: id empty$/ } };

/** Condition that one of these errors of the recorded release is missing. */
const isMissing = (...ids: readonly string[]): When => ({
  part: /^error missing$/,
  test: ({ zitadel }) => ids.includes(idOf(zitadel)),
});

/** Condition that the other release has this error. */
const hasError = (id: string): When => ({ part: /^error (?:extra|id)$/, test: ({ ours }) => idOf(ours) === id });

/** Whether messages differ only as releases of 2026 write them. */
function isReworded(zitadel: unknown, other: unknown): boolean {
  return messageOf(zitadel).replace(TAIL, '') === messageOf(other).replace(TAIL, '').replace(WITHOUT_ID, '');
}

/** Rewrites the message for an unknown host as 2.71 has it. */
function asDomain(message: string): string {
  return message.replace(
    /by host: instanceHost (\S+), publicHost :/,
    'by domain: instanceDomain $1, publicHostname $1:',
  );
}

/** How the responses of each release of ZITADEL differ from the recorded ones. */
const differences: Readonly<Record<z.infer<typeof zitadelRelease>, Readonly<Record<string, When | readonly When[]>>>> =
  {
    '2.71': {
      ...lateKey,
      'the user service v2 has no Connect (404), and translates its errors by `Accept-Language`': {
        name: /connect|grpc-web|Accept-Language|German/i,
      },
      'exports have no states': { path: /\.(?:state|orgState)$/, only: 'zitadel' },
      'enabling the factor of an unknown user is 400, `COMMAND-KLJ2d`': {
        name: /^(?:otp-email: add on unknown user|POST otp_email\? \(add\))$/,
      },
      'the removal for an unknown user is `COMMAND-b312D`': {
        test: ({ zitadel, ours }) =>
          /\bCOMMAND-4g3xq\b/.test(messageOf(zitadel)) ||
          ['ORG-lapo2m', 'Org-W8m4l', 'V3-DKcYh', 'COMMAND-b312D'].includes(idOf(ours)),
      },
      'project members of unknown and foreign projects': {
        ...isMissing('COMMAND-EbFMN'),
        name: /^member: project (?:unknown project|of another organisation)$/,
      },
      'members of unknown project grants': {
        ...isMissing('PROJECT-D8JxR'),
        name: /^member: grant unknown (?:grant|project)$/,
      },
      'after a member of an unknown project grant, no export has project grant members': {
        name: /^member: grant (?:listed under the granted organisation|plain|twice)$/,
        part: /^exported$/,
        path: /^\[\]\.projectGrantMembers$/,
        only: 'zitadel',
      },
      'project grants of unknown projects, with unknown roles and to the own organisation': {
        ...isMissing('COMMAND-6m9gd', 'COMMAND-m9gsd', 'PROJECT-ckUpbvboAH'),
        name: /^grant: project grant (?:role in other case|to itself|unknown project|unknown role)$/,
      },
      'machine keys of people': { ...isMissing('COMMAND-bnipwm1'), name: /^machine key: of a human$/ },
      'a user grant without `projectGrantId`, of an unknown or foreign project, is `COMMAND-3n77S`': {
        ...hasError('COMMAND-3n77S'),
        name: /^grant: user grant (?:foreign project without grant|project id of project grant missing|unknown project)$/,
      },
      'with an unknown project grant `COMMAND-4m9ff`': {
        ...hasError('COMMAND-4m9ff'),
        name: /^grant: user grant unknown project grant$/,
      },
      'an organisation member without roles is `V2-PfYhb`': { ...hasError('V2-PfYhb'), name: /^member: org no roles$/ },
      '`orgState: true` is ignored': {
        name: /^json: enum as boolean$/,
        part: /^(?:status|message)$/,
        test: ({ ours }) => ours === 200 || ours === undefined,
      },
      'a project without an id `COMMAND-nDXf5vXoUj`': {
        ...hasError('COMMAND-nDXf5vXoUj'),
        name: /^id: project empty$/,
      },
      'a project grant without an id keeps none': {
        name: /^grant: project grant id empty$/,
        part: /^exported$/,
        path: /^\[\]\.projectGrants\[\]\.grantId$/,
        only: 'zitadel',
      },
      'the message for an unknown host names it as `instanceDomain` and `publicHostname`': {
        name: /^(?:http: )?unknown host$/,
        part: /^message$/,
        test: ({ zitadel, ours }) => messageOf(ours) === asDomain(messageOf(zitadel)),
      },
    },
    '4.0': lateKey,
    '2026-07': {
      ...lateKey,
      'errors without an id end in ` ()`': {
        part: /^message$/,
        test: ({ zitadel, ours }) => isReworded(zitadel, ours),
      },
      'gRPC-Web has errors before the authentication in the headers': { name: /^grpc-web/ },
      'e-mail addresses have 1 to 200 characters, and no other rule': {
        name: /^(?:email: |validation: email|policy: privacy e-mail with spaces)/,
      },
      'password hashes that its settings do not allow are refused, with the person': [
        { part: /^error (?:extra|id)$/, test: ({ ours }) => idOf(ours).startsWith('CRYPT-') },
        { name: /^authentication methods: / },
      ],
      '`PROJECT-msNebo`': hasError('PROJECT-msNebo'),
      'existing JWT providers, and user grants that name an unknown project grant, are no errors': {
        part: /^error missing$/,
        test: ({ zitadel }) => isJsonObject(zitadel) && (zitadel.type === 'jwt_idp' || zitadel.type === 'user_grant'),
      },
      'errors of the database begin with `unknown database error: `': {
        part: /^message$/,
        test: ({ zitadel, ours }) => messageOf(ours) === `unknown database error: ${messageOf(zitadel)}`,
      },
      'empty redirect URIs and origins of OIDC applications are kept': {
        name: /^oidc app: (?:origin|redirect) empty string$/,
      },
      'an organisation in which a person and a service user have one id cannot be exported': {
        name: /^id: human and machine the same$/,
      },
      'two blanks after `Bearer` are accepted': { name: /^http: export bearer two spaces$/ },
    },
  };

/** Returns the differences between a release of ZITADEL and the recorded one. */
export function releaseDifferences(release: z.infer<typeof zitadelRelease>): readonly Deliberate[] {
  return inSection('8.3', differences[release]);
}
