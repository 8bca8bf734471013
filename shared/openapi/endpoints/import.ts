import type { Endpoint } from '../endpoint.ts';

/** `POST /admin/v1/import` (interface 4.3). */
export const importEndpoint = {
  method: 'POST',
  path: '/admin/v1/import',
  operation: async () => (await import('../operations/import.ts')).importOperation,
} satisfies Endpoint;
