import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { answerAccount, answerPolicy, answerProject, answerServices } from './accounts.ts';
import { ApiError, denied } from './apiError.ts';
import { answerCompute } from './compute.ts';
import { Faults } from './faults.ts';
import { type Fields, fieldsOf, listOf, textOf } from './json.ts';
import { byId, type Project } from './project.ts';
import type { ApiRequest } from './request.ts';
import { answerResource, done } from './resources.ts';
import { answerStorage, answerUpload } from './storage.ts';

/** The version in the paths of each API, and the provider's variable for its address. */
const apis: Readonly<Record<string, readonly [path: string, variable: string]>> = {
  artifactregistry: ['v1/', 'ARTIFACT_REGISTRY'],
  billingbudgets: ['v1/', 'BILLING_BUDGETS'],
  certificatemanager: ['v1/', 'CERTIFICATE_MANAGER'],
  cloudfunctions: ['v2/', 'CLOUDFUNCTIONS2'],
  cloudresourcemanager: ['v1/', 'RESOURCE_MANAGER'],
  compute: ['compute/v1/', 'COMPUTE'],
  firebaserules: ['v1/', 'FIREBASERULES'],
  firestore: ['v1/', 'FIRESTORE'],
  iam: ['v1/', 'IAM_BETA'],
  logging: ['v2/', 'LOGGING'],
  monitoring: ['', 'MONITORING'],
  run: ['v2/', 'CLOUD_RUN_V2'],
  secretmanager: ['v1/', 'SECRET_MANAGER'],
  serviceusage: ['v1/', 'SERVICE_USAGE'],
  storage: ['storage/v1/', 'STORAGE'],
};

/** A running stand-in of Google's APIs. */
export interface Google extends AsyncDisposable {
  /** The environment in which the provider talks to the stand-in, and to no other host. */
  readonly environment: Readonly<Record<string, string>>;
  /** Requests that the stand-in does not know, and attempts to reach another host. */
  readonly unexpected: readonly string[];
  readonly faults: Faults;
}

/** Starts a stand-in of Google's APIs on loopback. */
export async function startGoogle(project: Project): Promise<Google> {
  const unexpected: string[] = [];
  const faults = new Faults(project);
  const server = createServer(async (incoming, response) => {
    const { status, answer } = await answerOf(project, faults, incoming);
    if (status === 501) unexpected.push(`${incoming.method} ${incoming.url}`);
    response.writeHead(answer === undefined ? 204 : status, { 'content-type': 'application/json; charset=UTF-8' });
    response.end(answer === undefined ? undefined : JSON.stringify(answer));
  });
  server.on('connect', ({ url }, socket) => {
    // The provider requests the owner of its token there, and continues without a response.
    if (url !== 'openidconnect.googleapis.com:443') unexpected.push(`CONNECT ${url}`);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  // The provider does not retry a request that meets a closing connection. By default, connections close after 5 idle
  // seconds.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = originOf(server);
  const endpoints = Object.entries(apis).map(([service, [path, variable]]) => [
    `GOOGLE_${variable}_CUSTOM_ENDPOINT`,
    `${origin}/${service}/${path}`,
  ]);
  return {
    environment: { ...Object.fromEntries(endpoints), GOOGLE_OAUTH_ACCESS_TOKEN: 'none', HTTPS_PROXY: origin },
    unexpected,
    faults,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function originOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the stand-in has no port');
  return `http://127.0.0.1:${address.port}`;
}

async function answerOf(project: Project, faults: Faults, incoming: IncomingMessage) {
  try {
    const request = await readRequest(incoming);
    return { status: 200, answer: faults.answer(request, () => dispatch(project, request)) };
  } catch (error) {
    const { code, status, message, reason } =
      error instanceof ApiError ? error : new ApiError(501, 'INTERNAL', String(error));
    const details =
      reason === undefined
        ? []
        : [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'googleapis.com' }];
    return {
      status: code,
      answer: { error: { code, status, message, details, errors: [{ reason: reason ?? status, message }] } },
    };
  }
}

async function readRequest(incoming: IncomingMessage): Promise<ApiRequest> {
  const bytes = await buffer(incoming);
  const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://stand-in');
  const [, first = '', rest = ''] = /^\/([^/]+)\/(.*)$/.exec(pathname) ?? [];
  const contentType = incoming.headers['content-type'] ?? '';
  const parsed: unknown =
    contentType.startsWith('application/json') && bytes.length > 0 ? JSON.parse(bytes.toString()) : {};
  const isUpload = first === 'upload';
  const service = isUpload ? 'upload' : first;
  const withoutVersion = rest.replace(/^((compute|storage)\/)?v\d(beta\d)?\//, '');
  // The names of objects contain encoded slashes.
  const path = service === 'storage' ? withoutVersion : decodeURIComponent(withoutVersion);
  return {
    service,
    method: incoming.method ?? '',
    path,
    query: searchParams,
    body: fieldsOf(parsed),
    bytes,
    contentType,
  };
}

function dispatch(project: Project, request: ApiRequest): Fields | undefined {
  const { service, path } = request;
  if (service === 'upload') return answerUpload(project, request);
  if (!project.answers(service))
    throw new ApiError(
      403,
      'PERMISSION_DENIED',
      `${service}.googleapis.com has not been used in the project before or it is disabled`,
      'SERVICE_DISABLED',
    );
  const policy = policyRequest(project, request);
  if (policy !== undefined) return policy;
  if (service === 'compute') return answerCompute(project, request);
  if (service === 'storage') return answerStorage(project, request);
  if (service === 'serviceusage') return answerServices(project, request);
  if (service === 'cloudresourcemanager') return answerProject(path);
  if (service === 'iam' && path.includes('/serviceAccounts')) return answerAccount(project, request);
  return answerLogBucket(project, request) ?? answerResource(project, request);
}

/** Answers a request for an IAM policy: of a bucket under `iam`, of other resources by a method. */
function policyRequest(project: Project, { service, method, path, body }: ApiRequest): Fields | undefined {
  const [, bucket] = /^(b\/[^/]+)\/iam$/.exec(service === 'storage' ? path : '') ?? [];
  const [, resource = bucket, verb = method === 'GET' ? 'getIamPolicy' : 'setIamPolicy'] =
    /^(.*):([gs]etIamPolicy)$/.exec(path) ?? [];
  if (resource === undefined) return undefined;
  const key = `${service}/${byId(resource)}`;
  if (service !== 'cloudresourcemanager') project.held(key);
  if (verb === 'getIamPolicy') return answerPolicy(project, key, undefined);
  const given = bucket === undefined ? fieldsOf(body.policy) : body;
  // The provider removes the last binding of a bucket without an etag.
  if (given.etag === undefined && listOf(given.bindings).length > 0) throw denied('a policy is set by its etag only');
  return answerPolicy(project, key, given);
}

/** Log buckets are created and changed by methods of their own, which answer with an operation. */
function answerLogBucket(project: Project, request: ApiRequest): Fields | undefined {
  const [, path, verb] = /^(.*\/buckets(?:\/[^/]+)?):(create|update)Async$/.exec(request.path) ?? [];
  if (path === undefined) return undefined;
  const bucket = answerResource(project, { ...request, path, method: verb === 'create' ? 'POST' : 'PATCH' });
  return done(textOf(bucket.name), bucket);
}
