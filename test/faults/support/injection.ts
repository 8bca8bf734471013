import { setTimeout } from 'node:timers/promises';

/** The effect of an injected fault on a call. */
export type FaultKind = 'fails' | 'is delayed' | 'is lost' | 'conflicts';

/** The calls with a fault, and its kind: every `every`-th of one operation. */
export interface InjectionPlan<Operation extends string> {
  readonly operation: Operation;
  readonly kind: FaultKind;
  readonly every: number;
}

/** The error of a failed call. */
export interface Failures {
  readonly failure: () => Error;
  readonly conflict?: () => Error;
}

const DELAY_MS = 25;

/** Fails calls according to a plan, from `begin` to `end`. */
export class Injection<Operation extends string> {
  private readonly plan: InjectionPlan<Operation>;
  private readonly failures: Failures;
  private isOn = false;
  private calls = 0;
  /** The number of failed calls. */
  struck = 0;

  constructor(plan: InjectionPlan<Operation>, failures: Failures) {
    this.plan = plan;
    this.failures = failures;
  }

  begin(): void {
    this.isOn = true;
  }

  end(): void {
    this.isOn = false;
  }

  /** Makes a call, or fails it. */
  async around<Result>(operation: Operation, call: () => Promise<Result>): Promise<Result> {
    if (!this.strikes(operation)) return call();
    const { failure, conflict = failure } = this.failures;
    switch (this.plan.kind) {
      case 'fails':
        throw failure();
      case 'is delayed':
        await setTimeout(DELAY_MS);
        return call();
      case 'is lost':
        await call();
        throw failure();
      case 'conflicts':
        await call();
        throw conflict();
    }
  }

  private strikes(operation: Operation): boolean {
    if (!this.isOn || operation !== this.plan.operation) return false;
    this.calls++;
    if (this.calls % this.plan.every !== 0) return false;
    this.struck++;
    return true;
  }
}
