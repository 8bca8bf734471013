import { randomUUID } from 'node:crypto';

const sane = /^[A-Za-z0-9._-]{1,64}$/;

/** The id that an answer and its log lines carry: the caller's if it is sane, else the platform's, else a new one. */
export function requestIdFrom(readHeader: (name: string) => string | undefined): string {
  const given = [readHeader('x-request-id'), readHeader('function-execution-id')];
  return given.find((id) => id !== undefined && sane.test(id)) ?? newRequestId();
}

/** An id for a request whose headers are not known. */
export const newRequestId = (): string => randomUUID();
