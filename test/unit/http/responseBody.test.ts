import { expect, it } from 'vitest';
import { completeContent, completeResponse, jsonResponse } from '../../../shared/http/responses.ts';

it('tells the content of a complete response, which can still be read', async () => {
  const response = jsonResponse({ name: 'Zoë' });
  expect(Buffer.from(completeContent(response) ?? []).toString()).toBe('{"name":"Zoë"}');
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(await response.json()).toEqual({ name: 'Zoë' });
});

it('keeps the status and the bytes that it is given', () => {
  const bytes = Buffer.from([0, 255]);
  const response = completeResponse(bytes, { status: 404 });
  expect(response.status).toBe(404);
  expect(completeContent(response)).toBe(bytes);
});

it('knows no content of a response that must be read', () => {
  expect(completeContent(new Response('streamed'))).toBeUndefined();
});
