import { type Code, codes } from './code.ts';
import type { ErrorBody, ErrorDetail } from './errorBody.ts';

/** What an error is made of. `id` and `text` travel as a `zitadel.v1.ErrorDetail`; `cause` stays in the log. */
export interface ErrorParts {
  readonly code: Code;
  readonly text: string;
  readonly id?: string;
  readonly details?: readonly ErrorDetail[];
  /** Where HTTP has a more exact status than the code's own, for example 413. */
  readonly httpStatus?: number;
  readonly cause?: unknown;
}

/** The one error class: whatever reaches a caller is one of these, rendered by `toJson`. */
export class IdentityError extends Error {
  override readonly name = 'IdentityError';
  readonly code: Code;
  readonly id: string | undefined;
  readonly text: string;
  readonly httpStatus: number;
  readonly details: readonly ErrorDetail[];

  constructor(parts: ErrorParts) {
    super(parts.id === undefined ? parts.text : `${parts.text} (${parts.id})`, { cause: parts.cause });
    this.code = parts.code;
    this.id = parts.id;
    this.text = parts.text;
    this.httpStatus = parts.httpStatus ?? codes[parts.code].httpStatus;
    this.details = parts.details ?? [];
  }

  /** Folds anything that was thrown into an error that can be shown: what is not ours becomes INTERNAL without its text. */
  static from(reason: unknown): IdentityError {
    if (reason instanceof IdentityError) return reason;
    return new IdentityError({ code: 'INTERNAL', text: 'An internal error occurred', cause: reason });
  }

  /** The body of the interface (2.3); `details` is left out where there is none, as ZITADEL does (contract 6.4). */
  toJson(): ErrorBody {
    const named =
      this.id === undefined
        ? []
        : [{ '@type': 'type.googleapis.com/zitadel.v1.ErrorDetail', id: this.id, message: this.text }];
    const details = [...named, ...this.details];
    const body = { code: codes[this.code].number, message: this.message };
    return details.length === 0 ? body : { ...body, details };
  }
}
