// The path of a value in a document, and the errors that contain it.

/** The keys and indexes from the root to a value. */
export type JsonPath = readonly (string | number)[];

/** An error in the input: it is not JSON, or does not have the expected structure. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
  readonly path: JsonPath;
  /** The actual kind of the file, if it is not the expected kind. */
  readonly wrongFile: WrongFile | undefined;
  /** The offset of the first wrong byte in the input, if it is known. */
  readonly position: number | undefined;

  constructor(path: JsonPath, message: string, { wrongFile, position }: JsonErrorFacts = {}) {
    super(message);
    this.path = path;
    this.wrongFile = wrongFile;
    this.position = position;
  }
}

type JsonErrorFacts = Partial<Pick<JsonError, 'wrongFile' | 'position'>>;

/** A file of another kind in place of the expected one. */
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

/** Returns an error's message after its path. */
export function locatedMessage({ path, message }: JsonError): string {
  return path.length === 0 ? message : `${formatPath(path)}: ${message}`;
}

/**
 * Returns the error with the line and the column of its position.
 * @param content the input from its first byte
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
