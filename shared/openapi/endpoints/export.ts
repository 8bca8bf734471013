import type { Endpoint } from '../endpoint.ts';

/** `POST /admin/v1/export` (interface 4.2). */
export const exportEndpoint = {
  method: 'POST',
  path: '/admin/v1/export',
  operation: async () => (await import('../operations/export.ts')).exportOperation,
} satisfies Endpoint;
