import { describe, expect, it } from 'vitest';
import { testInstance } from '../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../support/stores/stores.ts';

describe('a request whose body never ends', () => {
  it.each(['/admin/v1/export', '/admin/v1/import'])(
    'is given up at %s when the longest time for a call is over',
    async (path) => {
      const { app, token } = await testInstance(await openTestStore(sqlite), 'test', { limits: { timeoutMs: 20 } });
      const body = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from('{')) });
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const response = await app.request(path, { method: 'POST', body, headers, duplex: 'half' });
      expect(response.status).toBe(504);
      expect(await response.json()).toMatchObject({ code: 4 });
    },
  );
});
