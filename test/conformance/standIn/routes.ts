import { z } from 'zod';
import type { Answer } from '../answer.ts';
import { jsonOf } from '../owner.ts';
import type { Accounts } from './accounts.ts';
import { exportFrom } from './exports.ts';
import { type Imported, importInto, unreadableBody } from './imports.ts';
import type { Received } from './recordedAnswers.ts';
import { adminReply, fault, faults, reply } from './replies.ts';
import { handleFactor, listMethods } from './users.ts';

/** What the routes of a stand-in work on. */
export interface RoutePorts {
  readonly accounts: Accounts;
  readonly imported: Imported;
  readonly lagMs: number;
  readonly deletes: boolean;
  /** The service that stands in. */
  readonly attempt: (operation: 'import' | 'export', body: unknown) => Promise<{ status: number; text: string }>;
}

interface Called extends Received {
  readonly caller: string;
  readonly text: string;
  /** What the pattern of the path caught. */
  readonly part: string;
}

interface Route {
  readonly methods: readonly string[];
  readonly path: RegExp;
  readonly handle: (ports: RoutePorts, called: Called) => Answer | Promise<Answer>;
}

const expiry = z.looseObject({ expirationDate: z.iso.datetime() });
const member = z.looseObject({ userId: z.string(), roles: z.array(z.string()) });
const done = reply(200, { details: { sequence: '2', changeDate: '2026-11-21T21:49:39.285593Z' } });

const routes: readonly Route[] = [
  { methods: ['POST'], path: /^\/admin\/v1\/export(?:\?.*)?$/, handle: exportRoute },
  { methods: ['POST'], path: /^\/admin\/v1\/import(?:\?.*)?$/, handle: importRoute },
  { methods: ['POST', 'DELETE'], path: /^\/v2(?:beta)?\/users\/([^/?]+)\/otp_email(?:\?.*)?$/, handle: factorRoute },
  { methods: ['GET'], path: /^\/v2\/users\/([^/?]+)\/authentication_methods$/, handle: methodsRoute },
  { methods: ['POST'], path: /^\/v2\/users$/, handle: () => faults.denied },
  { methods: ['POST'], path: /^\/v2\/users\/[^/]+\/otp_sms$/, handle: () => faults.unknownUser },
  { methods: ['POST'], path: /^\/admin\/v1$/, handle: () => fault(400, 3, 'Bad Request') },
  { methods: ['POST'], path: /^\/management\/v1\/users\/([^/]+)\/pats$/, handle: tokenRoute },
  { methods: ['POST'], path: /^\/management\/v1\/users\/([^/]+)\/_deactivate$/, handle: deactivateRoute },
  { methods: ['DELETE'], path: /^\/management\/v1\/orgs\/me$/, handle: deleteRoute },
  { methods: ['POST'], path: /^\/admin\/v1\/members$/, handle: memberRoute },
  { methods: ['DELETE'], path: /^\/admin\/v1\/members\/([^/]+)$/, handle: () => done },
  {
    methods: ['GET'],
    path: /^\/auth\/v1\/users\/me$/,
    handle: (_ports, { caller }) => reply(200, { user: { id: caller } }),
  },
  { methods: ['POST'], path: /^\/auth\/v1\/memberships\/me\/_search$/, handle: membershipsRoute },
];

// The gateway reads a body of JSON before anybody asks for a token, and the prefix of a path before any method.
const UNAUTHENTICATED = /^\/admin\/v1$/;

/** Answers a request that was not recorded. */
export async function handleRequest(ports: RoutePorts, request: Received): Promise<Answer> {
  const route = routes.find(({ path }) => path.test(request.path));
  if (route === undefined) return faults.notFound;
  if (!route.methods.includes(request.method)) return faults.notAllowed;
  const text = request.body.toString();
  const early = request.method === 'POST' ? unreadableBody(text) : undefined;
  if (early !== undefined) return early;
  const part = route.path.exec(request.path)?.[1] ?? '';
  if (UNAUTHENTICATED.test(request.path)) return route.handle(ports, { ...request, caller: '', text, part });
  const orgId = request.headers['x-zitadel-orgid'];
  const caller = request.userId;
  if (request.headers.authorization === undefined) return faults.noHeader;
  if (!request.headers.authorization.startsWith('Bearer ')) return faults.badHeader;
  if (caller === undefined) return faults.badToken;
  if (orgId !== undefined && !ports.imported.organisations.has(orgId)) return faults.noOrganisation;
  return route.handle(ports, { ...request, caller, text, part });
}

function importRoute(ports: RoutePorts, { caller, text }: Called) {
  const attempt = (body: string) => ports.attempt('import', body);
  return denied(ports, caller, ['IAM_OWNER']) ?? importInto({ ...ports, attempt }, text);
}

function exportRoute(ports: RoutePorts, { caller, text }: Called) {
  const attempt = (body: object) => ports.attempt('export', body);
  return (
    denied(ports, caller, ['IAM_OWNER', 'IAM_OWNER_VIEWER']) ??
    exportFrom(attempt, ports.imported, ports.accounts, text)
  );
}

function denied({ accounts }: RoutePorts, caller: string, allowed: readonly string[]): Answer | undefined {
  const roles = accounts.users.get(caller)?.roles ?? new Set();
  if (allowed.some((role) => roles.has(role))) return;
  return roles.size === 0 ? faults.noMembership : faults.denied;
}

function factorRoute({ accounts }: RoutePorts, { method, part, caller }: Called): Answer {
  return handleFactor(accounts, { method, written: part, caller });
}

function methodsRoute({ accounts }: RoutePorts, { part }: Called): Answer {
  return listMethods(accounts, part);
}

function tokenRoute({ accounts }: RoutePorts, { part, text }: Called): Answer {
  const userId = decodeURIComponent(part);
  const given = jsonOf(expiry, text);
  if (given === undefined || !accounts.users.has(userId)) return faults.unknownUser;
  return reply(200, { tokenId: '1', token: accounts.createToken(userId, Date.parse(given.expirationDate)) });
}

function deactivateRoute({ accounts }: RoutePorts, { part }: Called): Answer {
  accounts.deactivate(decodeURIComponent(part));
  return done;
}

function memberRoute({ accounts }: RoutePorts, { text }: Called): Answer {
  const { userId, roles } = member.parse(JSON.parse(text));
  for (const role of roles) accounts.users.get(userId)?.roles.add(role);
  return done;
}

function membershipsRoute({ accounts }: RoutePorts, { caller }: Called): Answer {
  const roles = [...(accounts.users.get(caller)?.roles ?? [])];
  return adminReply({ result: roles.map((role) => ({ userId: caller, roles: [role], iam: role.startsWith('IAM_') })) });
}

function deleteRoute({ accounts, imported, deletes }: RoutePorts, { headers }: Called): Answer {
  const orgId = headers['x-zitadel-orgid'];
  if (!deletes || orgId === undefined) return faults.notFound;
  imported.organisations.delete(orgId);
  accounts.remove(orgId);
  return done;
}
