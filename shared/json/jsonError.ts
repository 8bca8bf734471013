/** The field names and list indexes that lead from the root of a document to a value. */
export type JsonPath = readonly (string | number)[];

/** The error for an input that is not JSON, or that does not have the expected structure. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
  readonly path: JsonPath;
  /** Present if the input is recognised as another kind of file, such as an HTML page. */
  readonly wrongFile: WrongFile | undefined;
  /** The byte offset of the error in the input; undefined if unknown. */
  readonly position: number | undefined;

  constructor(path: JsonPath, message: string, { wrongFile, position }: JsonErrorFacts = {}) {
    super(message);
    this.path = path;
    this.wrongFile = wrongFile;
    this.position = position;
  }
}

type JsonErrorFacts = Partial<Pick<JsonError, 'wrongFile' | 'position'>>;

export interface WrongFile {
  /** The kind with its article, such as `an HTML page`. */
  readonly kind: string;
  readonly remedy: string;
}

const NEWLINE = 0x0a;

/** Formats a path for error texts: `orgs[3].humanUsers[17]`. */
export function formatPath(path: JsonPath): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');
}

export function locatedMessage({ path, message }: JsonError): string {
  return path.length === 0 ? message : `${formatPath(path)}: ${message}`;
}

/**
 * Returns the error with the line and the column of its position in the message. Returns the error unchanged if the
 * position is unknown.
 * @param content the whole input, which the function reads from the start
 */
export async function withLine(error: JsonError, content: AsyncIterable<Uint8Array>): Promise<JsonError> {
  const { path, position } = error;
  if (position === undefined) return error;
  let [line, lineStart, start] = [1, 0, 0];
  for await (const chunk of content) {
    for (let at = chunk.indexOf(NEWLINE); at >= 0 && start + at < position; at = chunk.indexOf(NEWLINE, at + 1)) {
      line++;
      lineStart = start + at + 1;
    }
    start += chunk.length;
    if (start > position) break;
  }
  return new JsonError(path, `${error.message} (line ${line}, column ${position - lineStart + 1})`);
}
