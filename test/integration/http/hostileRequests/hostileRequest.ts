/** A request as its bytes, and its expected error. */
export interface HostileRequest {
  readonly name: string;
  /** The bytes for the connection; `token` is that of an IAM_OWNER. */
  readonly bytes: string | ((token: string) => string | Buffer);
  /** Whether the client closes its side afterwards. */
  readonly ends?: true;
  readonly status: number;
  readonly code: number;
}

/** A request without a body. */
export const head = (line: string, ...headers: readonly string[]) => [line, 'Host: a', ...headers, '', ''].join('\r\n');

/** A `POST` of a caller with all permissions, with any body and headers. */
export const post =
  (path: string, headers: readonly string[], body: string | Uint8Array = '') =>
  (token: string): Buffer => {
    const lines = head(`POST ${path} HTTP/1.1`, `Authorization: Bearer ${token}`, ...headers);
    return Buffer.concat([Buffer.from(lines), Buffer.from(body)]);
  };
