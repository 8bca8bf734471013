import { UserService } from '@zitadel/proto/zitadel/user/v2/user_service_pb.js';
import { describe, expect, it } from 'vitest';
import { createApp } from '../../../shared/http/app.ts';
import type { Endpoint } from '../../../shared/openapi/endpoint.ts';
import { rpcRoutes } from '../../../shared/rpc/rpcRoute.ts';
import { capturedLog } from '../../support/http/capturedLog.ts';

const path = '/zitadel.user.v2.UserService/RemoveOTPEmail';
const endpoint: Endpoint = { method: 'DELETE', path: '/unused' };
const logged = capturedLog();

/** An application that checks its caller's token for a given time. */
function waitingApp(until: () => Promise<void>) {
  const method = async () => UserService.method.removeOTPEmail;
  const rpc = { path, method, authenticate: until, call: async () => ({}) };
  return createApp({ routes: rpcRoutes(rpc, { endpoint, toRequest: () => ({}) }) });
}

describe('a client that leaves during an RPC', () => {
  it.each(['application/grpc', 'application/grpc-web', 'application/json'])(
    'is not a failure of the service, with %s',
    async (type) => {
      const client = new AbortController();
      const begun = Promise.withResolvers<void>();
      const app = waitingApp(() => begun.promise);
      const { signal } = client;
      const headers = { 'content-type': type, te: 'trailers' };
      const response = app.request(path, { method: 'POST', headers, body: Buffer.alloc(5), signal });
      // As in the HTTP server, whose reason is a text.
      client.abort('Client connection prematurely closed.');
      begun.resolve();
      const { status } = await response;
      expect(status).toBeLessThan(500);
      expect(logged()).not.toContain('request failed');
    },
  );
});
