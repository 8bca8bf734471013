/** The headers that every answer carries, errors of the HTTP server itself included. */
export function answerHeaders(requestId: string): Record<string, string> {
  return {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
    'x-robots-tag': 'none',
  };
}
