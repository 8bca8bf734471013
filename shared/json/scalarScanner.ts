import { CLOSE_BRACE, CLOSE_BRACKET, COMMA, isSpace, jsonLimits } from './bytes.ts';

const SCALAR = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/** Finds the end of a number, `true`, `false` or `null` in bytes that arrive in chunks, and checks it. */
export class ScalarScanner {
  private text = '';
  /** Whether the value is complete. */
  done = true;

  begin(): void {
    this.text = '';
    this.done = false;
  }

  /**
   * Scans from `position`; returns the position after the value, or the length of `bytes` if more of it may follow.
   * @throws SyntaxError
   */
  advance(bytes: Buffer, position: number): number {
    const most = Math.min(bytes.length, position + jsonLimits.scalarBytes + 1 - this.text.length);
    let at = position;
    while (at < most && !isDelimiter(bytes[at])) at++;
    this.text += bytes.toString('latin1', position, at);
    if (this.text.length > jsonLimits.scalarBytes)
      throw new SyntaxError(`a number has more than ${jsonLimits.scalarBytes} bytes`);
    if (at === bytes.length) return at;
    if (!SCALAR.test(this.text)) throw new SyntaxError('expected a value: a number, true, false or null is invalid');
    this.done = true;
    return at;
  }
}

function isDelimiter(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || isSpace(byte);
}
