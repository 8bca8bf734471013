import { type FieldViolation, invalidRequest } from '../../../shared/errors/errors.ts';
import type { IdentityError } from '../../../shared/errors/identityError.ts';
import { formatPath, JsonError, type JsonPath } from '../../../shared/json/jsonScanner.ts';
import { type FieldIssue, InvalidRecordError } from '../../../shared/organisation/message.ts';
import { causedBy } from '../../../shared/organisation/rules.ts';

const MAX_VIOLATIONS = 100;

/** The issues of an export file, each with its path, up to the limit of one response. */
export class Violations {
  private readonly violations: FieldViolation[] = [];
  private firstMessage: string | undefined;
  /** The request's field that holds the file; undefined for a file in a bucket. */
  private readonly field: string | undefined;

  constructor(field: string | undefined) {
    this.field = field;
  }

  get full(): boolean {
    return this.violations.length >= MAX_VIOLATIONS;
  }

  /** Runs `work` on the value at `path` and captures its issues. Other errors are rethrown. */
  capture(path: JsonPath, work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof JsonError) && !(error instanceof InvalidRecordError)) throw error;
      this.add(error, path);
    }
  }

  add(error: JsonError | InvalidRecordError, path: JsonPath): void {
    if (error instanceof JsonError) this.push({ field: formatPath(error.path), description: error.message }, undefined);
    else for (const issue of error.issues) this.push(toViolation(path, issue), this.zitadelMessage(path, issue));
  }

  /** @throws IdentityError INVALID_ARGUMENT with all issues, if there are any */
  throwIfAny(): void {
    if (this.violations.length > 0) throw this.error();
  }

  private error(): IdentityError {
    return invalidRequest(this.violations.slice(0, MAX_VIOLATIONS), this.firstMessage);
  }

  private push(violation: FieldViolation, message: string | undefined): void {
    if (this.violations.length === 0) this.firstMessage = message;
    this.violations.push(violation);
  }

  /** Returns ZITADEL's message for a broken rule, with every message from the request to the field (zitadel 3.2). */
  private zitadelMessage([, organisation, section, index]: JsonPath, { message }: FieldIssue): string | undefined {
    if (message === undefined || typeof organisation !== 'number') return undefined;
    const request = this.field === undefined ? '' : causedBy('ImportDataRequest', this.field);
    const inSection = typeof index === 'number' || !message.startsWith('invalid DataOrg.');
    const record = inSection ? causedBy('DataOrg', String(section), typeof index === 'number' ? index : undefined) : '';
    return `${request}${causedBy('ImportDataOrg', 'orgs', organisation)}${record}${message}`;
  }
}

function toViolation(path: JsonPath, { path: subpath, reason }: FieldIssue): FieldViolation {
  const parent = path.length === 3 && subpath.startsWith(`${path[2]}`) ? path.slice(0, 2) : path;
  const prefix = formatPath(parent);
  return { field: subpath === '' ? prefix : `${prefix}.${subpath}`, description: reason };
}
