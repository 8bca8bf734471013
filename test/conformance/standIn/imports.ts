import { z } from 'zod';
import type { Answer } from '../answer.ts';
import type { Accounts } from './accounts.ts';
import { adminReply, fault } from './replies.ts';

const MAX_BYTES = 4_194_304;
const TAIL =
  'Parent=(ERROR: duplicate key value violates unique constraint "unique_constraints_pkey" (SQLSTATE 23505))';

const user = z.looseObject({ userId: z.string().default('') });
const person = user.extend({
  user: z
    .looseObject({
      email: z.looseObject({ isEmailVerified: z.boolean().default(false) }).optional(),
      hashedPassword: z.unknown().optional(),
      password: z.unknown().optional(),
    })
    .optional(),
});
const organisation = z.looseObject({
  orgId: z.string().default(''),
  humanUsers: z.array(person).default([]),
  machineUsers: z.array(user).default([]),
  projects: z.array(z.looseObject({ projectId: z.string() })).default([]),
  projectGrants: z.array(z.looseObject({ grantId: z.string() })).default([]),
  userGrants: z
    .array(z.looseObject({ userId: z.string(), projectId: z.string(), projectGrantId: z.string().optional() }))
    .default([]),
  orgMembers: z.array(z.looseObject({ userId: z.string(), roles: z.array(z.string()) })).default([]),
});
type Organisation = z.infer<typeof organisation>;
const request = z.looseObject({ dataOrgs: z.looseObject({ orgs: z.array(z.unknown()) }) });
const report = z.looseObject({
  errors: z.array(z.looseObject({ type: z.string(), id: z.string().optional(), message: z.string() })).default([]),
  success: z.looseObject({ orgs: z.array(z.looseObject({ orgId: z.string() })).default([]) }),
});
type Fault = z.infer<typeof report>['errors'][number];

/** What a stand-in knows to have been imported. */
export interface Imported {
  /** Organisations, with the time at which exports begin to show them. */
  readonly organisations: Map<string, number>;
  readonly projects: Set<string>;
}

/** The import of the service that stands in, on which ZITADEL's differences are put. */
export interface ImportPorts {
  readonly attempt: (body: string) => Promise<{ status: number; text: string }>;
  readonly accounts: Accounts;
  readonly imported: Imported;
  /** How long exports do not show an import. */
  readonly lagMs: number;
}

/** Texts of protobuf's JSON reader, as recorded for bodies like these. */
const unreadable: readonly (readonly [body: RegExp, status: number, code: number, message: string])[] = [
  [/^\{$/, 400, 3, 'unexpected EOF'],
  [/"projectId":"1","(project_?[iI]d)":"1"/, 400, 3, 'proto: (line 1:79): duplicate field "$1"'],
  [/"humanUsers":\[null\]/, 400, 3, 'proto: syntax error (line 1:79): unexpected token null'],
  [/"roles":\[null\]/, 400, 3, 'proto: (line 1:79): invalid value for string field roles: null'],
  [/"data_orgsv1":"/, 400, 3, 'proto: syntax error (line 1:31): unexpected token "{}"'],
  [/"timeout":30\b/, 400, 3, 'proto: (line 1:12): invalid value for string field timeout: 30'],
  [
    /"data_orgs":.*"data_orgsv1":/,
    400,
    3,
    'proto: (line 1:41): error parsing "data_orgsv1", oneof zitadel.admin.v1.ImportDataRequest.data is already set',
  ],
];

/** What the body makes impossible before anybody asks for a token. */
export function unreadableBody(body: string): Answer | undefined {
  if (Buffer.byteLength(body) > MAX_BYTES) {
    return fault(429, 8, `grpc: received message larger than max (${Buffer.byteLength(body)} vs. ${MAX_BYTES})`);
  }
  for (const [pattern, status, code, message] of unreadable) {
    const match = pattern.exec(body);
    if (match !== null) return fault(status, code, message.replace('$1', match[1] ?? ''));
  }
  return undefined;
}

/** Imports as ZITADEL does, which reads no factor and nothing behind the first JSON value. */
export async function importInto(ports: ImportPorts, written: string): Promise<Answer> {
  if (!/"timeout":/.test(written)) return fault(500, 2, 'time: invalid duration ""');
  const whole: unknown = JSON.parse(written.replace(/\}\{"timeout":1\}$/, '}'), (name, value: unknown) =>
    name === 'otpEmail' ? undefined : value,
  );
  const parsed = request.safeParse(whole);
  if (!parsed.success) return importAll(ports, JSON.stringify(whole), []);
  const orgs = parsed.data.dataOrgs.orgs.map(organisationIn);
  const isTwice = orgs.some(({ orgId }, i) => orgs.findIndex((org) => org.orgId === orgId) !== i);
  return isTwice ? importOneByOne(ports, parsed.data) : importAll(ports, JSON.stringify(whole), orgs);
}

async function importOneByOne(ports: ImportPorts, whole: z.infer<typeof request>): Promise<Answer> {
  const reports: z.infer<typeof report>[] = [];
  for (const org of whole.dataOrgs.orgs) {
    const body = JSON.stringify({ ...whole, dataOrgs: { orgs: [org] } });
    reports.push(report.parse(JSON.parse((await importAll(ports, body, [organisationIn(org)])).text)));
  }
  const errors = reports.flatMap((one) => one.errors);
  return adminReply({ errors, success: { orgs: reports.flatMap(({ success }) => success.orgs) } });
}

/** Reads an organisation whose fields may be null, and spelled in both ways. */
function organisationIn(json: unknown): Organisation {
  const camel = JSON.stringify(json).replaceAll(/"([a-z]+(?:_[a-z]+)+)":/g, (field) =>
    field.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase()),
  );
  return organisation.parse(JSON.parse(camel, (_name, value: unknown) => value ?? undefined));
}

async function importAll(ports: ImportPorts, body: string, orgs: readonly Organisation[]): Promise<Answer> {
  const existing = orgs.flatMap((org) => existingIn(org, ports));
  const early = orgs.flatMap((org, i) => earlyGrants(org, orgs.slice(i + 1)));
  const sent = early.length === 0 ? body : withoutGrants(body);
  const { status, text } = await ports.attempt(sent);
  if (status !== 200) return { status, headers: { 'content-type': 'application/json' }, text };
  const { errors, success } = report.parse(JSON.parse(text));
  remember(ports, orgs, success.orgs);
  const own = errors.filter(({ type, id }) => !existing.some((known) => known.type === type && known.id === id));
  const found = [...existing, ...own.map(withTail), ...early];
  const isNameless = orgs.some(({ humanUsers }) => humanUsers.some(({ userId }) => userId === ''));
  const listed = success.orgs.map((org) => (isNameless ? { ...org, humanUserIds: [''] } : org));
  return adminReply({
    ...(found.length === 0 ? {} : { errors: found }),
    success: listed.length === 0 ? {} : { orgs: listed },
  });
}

function withTail(error: Fault): Fault {
  return error.message.startsWith('ID=V3-DKcYh') ? { ...error, message: `${error.message} ${TAIL}` } : error;
}

/** ZITADEL has an error for each record that is there, equal or not. */
function existingIn({ orgId, humanUsers, projects }: Organisation, { imported, accounts }: ImportPorts): Fault[] {
  if (!imported.organisations.has(orgId)) return [];
  const existing = 'AlreadyExisting';
  return [
    { type: 'org', id: orgId, message: `ID=ORG-lapo2n Message=Errors.Org.${existing}` },
    ...humanUsers
      .filter(({ userId }) => accounts.users.has(userId))
      .map(({ userId: id }) => ({
        type: 'human_user',
        id,
        message: `ID=COMMAND-ziuna Message=Errors.User.${existing}`,
      })),
    ...projects
      .filter(({ projectId }) => imported.projects.has(projectId))
      .map(({ projectId: id }) => ({
        type: 'project',
        id,
        message: `ID=COMMAND-opamwu Message=Errors.Project.${existing}`,
      })),
  ];
}

function earlyGrants({ orgId, userGrants }: Organisation, later: readonly Organisation[]): Fault[] {
  const grants = new Set(later.flatMap(({ projectGrants }) => projectGrants.map(({ grantId }) => grantId)));
  return userGrants
    .filter(({ projectGrantId }) => projectGrantId !== undefined && grants.has(projectGrantId))
    .map(({ userId, projectId }) => ({
      type: 'user_grant',
      id: `${orgId}_${projectId}_${userId}`,
      message: 'ID=COMMAND-4m9ff Message=Errors.Project.Grant.NotFound',
    }));
}

function withoutGrants(body: string): string {
  return JSON.stringify(JSON.parse(body, (name, value: unknown) => (name === 'userGrants' ? [] : value)));
}

function remember(
  ports: ImportPorts,
  orgs: readonly Organisation[],
  done: readonly { readonly orgId: string }[],
): void {
  const { accounts, imported, lagMs } = ports;
  for (const { orgId } of done) imported.organisations.set(orgId, Date.now() + lagMs);
  for (const { orgId, humanUsers, machineUsers, projects, orgMembers } of orgs.filter(({ orgId }) =>
    imported.organisations.has(orgId),
  )) {
    for (const { userId, user } of humanUsers) {
      // ZITADEL drops the verification of an address whose person comes without a credential.
      const hasPassword = (user?.hashedPassword ?? user?.password) !== undefined;
      accounts.add(userId, orgId, hasPassword && user?.email?.isEmailVerified === true);
    }
    for (const { userId } of machineUsers) accounts.add(userId, orgId, false);
    for (const { projectId } of projects) imported.projects.add(projectId);
    for (const { userId, roles } of orgMembers) {
      for (const role of roles) accounts.users.get(userId)?.roles.add(`${role}@${orgId}`);
    }
  }
}
