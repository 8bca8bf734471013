import { invalid } from './apiError.ts';
import { type Fields, fieldsOf, listOf, textOf } from './json.ts';
import type { Project } from './project.ts';
import type { ApiRequest } from './request.ts';

/** How a change fails: Google rejects the request, or accepts it and ends its operation with an error. */
export type Failure = 'rejected request' | 'failed operation';

const MESSAGE = 'this change fails once';

/** Fails each change of a project once, and leaves the project as it was. */
export class Faults {
  readonly #project: Project;
  readonly #failed = new Set<string>();
  readonly #lost = new Set<string>();
  #failure: Failure | undefined;

  constructor(project: Project) {
    this.#project = project;
  }

  /** Changes that failed, in the order of the requests. */
  get failed(): readonly string[] {
    return [...this.#failed];
  }

  /** Changes that failed, and were not repeated. */
  get lost(): readonly string[] {
    return [...this.#lost];
  }

  /** Fails each change once from now on; `undefined` ends that. */
  start(failure: Failure | undefined): void {
    this.#failure = failure;
    this.#failed.clear();
    this.#lost.clear();
  }

  /** Answers a request, or fails it. */
  answer(request: ApiRequest, dispatch: () => Fields | undefined): Fields | undefined {
    const change = this.#failure === undefined ? undefined : changeOf(request);
    if (change === undefined) return dispatch();
    if (this.#failed.has(change)) {
      const answer = dispatch();
      this.#lost.delete(change);
      return answer;
    }
    const restore = this.#project.snapshot();
    const answer = dispatch();
    const failedOperation = failedOperationOf(answer);
    if (this.#failure === 'failed operation' && failedOperation === undefined) return answer;
    restore();
    this.#failed.add(change);
    this.#lost.add(change);
    if (this.#failure === 'failed operation') return failedOperation;
    throw invalid(MESSAGE);
  }
}

/** Identifies a change by its request, without the parts that differ when it is repeated; `undefined` for other requests. */
function changeOf({ service, method, path, query, body }: ApiRequest): string | undefined {
  if (method === 'GET' || path.endsWith(':getIamPolicy')) return undefined;
  const { fingerprint: _, labelFingerprint: _label, etag: _tag, ...fields } = body;
  const isPolicy = path.endsWith(':setIamPolicy') || /^b\/[^/]+\/iam$/.test(path);
  // Each policy has several writers, each of which adds its binding to the bindings that it read.
  const content = isPolicy ? listOf(fieldsOf(body.policy).auditConfigs) : fields;
  return `${method} ${service}/${path} ${textOf(query.get('name'))}${JSON.stringify(content)}`;
}

/** Returns the answer as an operation that failed; `undefined` if it is no operation. */
function failedOperationOf(answer: Fields | undefined): Fields | undefined {
  if (answer?.kind === 'compute#operation')
    return { ...answer, httpErrorStatusCode: 400, error: { errors: [{ code: 'INVALID', message: MESSAGE }] } };
  if (answer?.done !== true) return undefined;
  const { response: _, ...operation } = answer;
  return { ...operation, error: { code: 3, message: MESSAGE } };
}
