import { once } from 'node:events';
import http, { type Server } from 'node:http';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { identityJson } from '../../support/command.ts';
import { comparable } from '../../support/fixtures/comparable.ts';
import { peopleOf, sampleOrganisation } from '../../support/fixtures/sampleOrganisation.ts';
import { requestHttp2 } from '../../support/http/http2.ts';
import { expectError, exportFrom, importInto, parseOk, removeOtpEmail, send } from '../../support/http/wire.ts';
import { type FunctionName, startFunction } from '../../support/processes/programs.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

// A process registers its functions once, and replaces `http.createServer`: other test files of the worker need their own.
const { createServer } = http;
vi.hoisted(() => vi.resetModules());
afterAll(() => {
  http.createServer = createServer;
  vi.resetModules();
});

const functions: readonly FunctionName[] = ['removeOtpEmail', 'export', 'import'];

const requests: Readonly<Record<FunctionName, { readonly method: string; readonly path: string }>> = {
  removeOtpEmail: { method: 'DELETE', path: '/v2/users/1/otp_email' },
  export: { method: 'POST', path: '/admin/v1/export' },
  import: { method: 'POST', path: '/admin/v1/import' },
};

const described = z.looseObject({ paths: z.record(z.string(), z.unknown()) });
const describedPaths: Readonly<Record<FunctionName, readonly string[]>> = {
  removeOtpEmail: [
    '/v2/users/{userId}/authentication_methods',
    '/v2/users/{userId}/otp_email',
    '/v2beta/users/{userId}/authentication_methods',
    '/v2beta/users/{userId}/otp_email',
  ],
  export: ['/admin/v1/export'],
  import: ['/admin/v1/import'],
};
const probedPaths = ['/health', '/ready'];

let directory: TemporaryDirectory = { path: '', remove: async () => {} };
let token = '';
beforeAll(async () => {
  directory = await temporaryDirectory();
  const made = z.looseObject({ token: z.string() });
  token = made.parse(await identityJson(['init', '--data', directory.path])).token;
});
afterAll(() => directory.remove());

/** A function serves its own request, which lacks a token here, and no other; the same holds for its RPC over HTTP/2. */
async function answersOnlyItsRoute(url: string, name: FunctionName): Promise<void> {
  for (const other of functions) {
    const answer = await send({ url }, requests[other]);
    if (other === name) expectError(answer, 401, 16);
    else expectError(answer, 404, 5);
  }
  const path = '/zitadel.user.v2.UserService/RemoveOTPEmail';
  const rpc = await requestHttp2(url, { method: 'POST', path, headers: { 'content-type': 'application/grpc' } });
  expect(rpc).toMatchObject({ status: 200, headers: { 'grpc-status': name === 'removeOtpEmail' ? '16' : '12' } });
}

describe('the three functions in the framework', () => {
  const servers = new Map<FunctionName, Server>();
  beforeAll(async () => {
    vi.stubEnv('DATA_DIR', directory.path);
    vi.stubEnv('LOG_LEVEL', 'silent');
    await import('../../../functions/removeOtpEmail/index.ts');
    await import('../../../functions/export/index.ts');
    await import('../../../functions/import/index.ts');
    for (const name of functions) {
      vi.stubEnv('FUNCTION_TARGET', name);
      const server = getTestServer(name).listen(0, '127.0.0.1');
      await once(server, 'listening');
      servers.set(name, server);
    }
    return () => {
      for (const server of servers.values()) server.close();
      vi.unstubAllEnvs();
    };
  });

  const instance = (name: FunctionName) => {
    const address = servers.get(name)?.address();
    if (typeof address !== 'object' || address === null) throw new Error(`${name} does not listen`);
    return { url: `http://127.0.0.1:${address.port}`, token, database: undefined };
  };

  it.each(functions)('serve one route each: %s', (name) => answersOnlyItsRoute(instance(name).url, name));

  it.each(functions)('describe one route each, to anyone: %s', async (name) => {
    const { paths } = described.parse(parseOk(await send(instance(name), { method: 'GET', path: '/openapi.json' })));
    expect(Object.keys(paths).sort()).toEqual([...describedPaths[name], ...probedPaths].sort());
  });

  it.each(functions)('respond to probes without a token: %s', async (name) => {
    for (const [path, status] of Object.entries({
      '/health': 'ok',
      '/healthz': 'ok',
      '/ready': 'ready',
      '/readyz': 'ready',
    }))
      expect(parseOk(await send({ url: instance(name).url }, { method: 'GET', path }))).toEqual({ status });
  });

  it('import, remove a factor and export together', async () => {
    const organisation = sampleOrganisation();
    const { ada } = peopleOf(organisation);
    const { summary } = await importInto(instance('import'), { timeout: '1m', data_orgsv1: { orgs: [organisation] } });
    expect(summary.created).toMatchObject({ org: 1, humanUsers: 4 });
    parseOk(await removeOtpEmail(instance('removeOtpEmail'), ada));
    const file = await exportFrom(instance('export'), { org_ids: [organisation.orgId] });
    const humanUsers = organisation.humanUsers.map(({ otpEmail, ...user }) =>
      otpEmail === true && user.userId !== ada ? { ...user, otpEmail } : user,
    );
    expect(comparable(file.orgs)).toEqual(comparable([{ ...organisation, humanUsers }]));
  });
});

describe.each(functions)('npm run function:%s', (name) => {
  it('serves the function alone, and ends with exit code 0 at SIGTERM', async () => {
    const running = await startFunction(name, { DATA_DIR: directory.path });
    await answersOnlyItsRoute(running.url, name);
    expect(await running.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  });
});

it('npm run function:removeOtpEmail describes the whole instance and its limits on behalf of an instance', async () => {
  const limits = { MAX_RESPONSE_BYTES: '10000000', MAX_TIMEOUT: '59m' };
  const scope = { DATA_DIR: directory.path, HOSTING: 'load_balancer' };
  const running = await startFunction('removeOtpEmail', { ...scope, ...limits });
  const document = parseOk(await send(running, { method: 'GET', path: '/openapi.json' }));
  const { paths, 'x-limits': stated } = described.parse(document);
  expect(Object.keys(paths).sort()).toEqual([...Object.values(describedPaths).flat(), ...probedPaths].sort());
  expect(stated).toEqual({ requestBytes: 1_000_000_000, responseBytes: 10_000_000, timeout: '59m' });
  await running.stop();
});

it('a function in the cloud keeps idle connections longer than the load balancer, and logs the trace of a request', async () => {
  const trace = '0af7651916cd43dd8448eb211c80319c';
  const cloud = { K_SERVICE: 'removal', FIRESTORE_PROJECT: 'acme-identity', FIRESTORE_EMULATOR_HOST: '127.0.0.1:9' };
  const running = await startFunction('removeOtpEmail', cloud);
  const { headers } = await fetch(`${running.url}/health`, {
    headers: { traceparent: `00-${trace}-b7ad6b7169203331-01` },
  });
  expect(headers.get('keep-alive')).toBe('timeout=620');
  await running.written('request finished');
  expect(running.stdout()).toContain(`"logging.googleapis.com/trace":"projects/acme-identity/traces/${trace}"`);
  await running.stop();
});
