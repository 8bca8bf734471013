import type { BucketAccess } from '../../support/instances/deployments.ts';

/** A request that must be refused: with this status, this code and this text, and without any effect. */
export interface BadRequest {
  /** What is wrong, as the end of "refuses …". */
  readonly name: string;
  readonly method?: string;
  readonly path: string;
  /** The body as it is sent, or what makes it of a bucket that can be used. */
  readonly body?: string | Uint8Array<ArrayBuffer> | ((bucket: BucketAccess) => unknown);
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  readonly code: number;
  readonly message: RegExp;
}

/** Rows that share their path and, unless they say otherwise, are answered with 400 and code 3. */
export function rows(
  path: string,
  list: readonly (Omit<BadRequest, 'path' | 'status' | 'code'> & Partial<BadRequest>)[],
): readonly BadRequest[] {
  return list.map((row) => ({ path, status: 400, code: 3, ...row }));
}

/** A key file's base64 with other fields. */
export function keyFileWith(keyFile: string, changes: object): string {
  const fields: unknown = JSON.parse(Buffer.from(keyFile, 'base64').toString());
  return Buffer.from(JSON.stringify(Object.assign({}, fields, changes))).toString('base64');
}
