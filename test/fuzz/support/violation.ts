/** A broken promise of the server: what it sent, or did not. */
export class Violation extends Error {
  override readonly name = 'Violation';
}
