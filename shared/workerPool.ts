import type { Worker } from 'node:worker_threads';

interface Job<Task, Result> {
  readonly task: Task;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * A pool of worker threads, for computations that would block the main thread. A worker receives a task as a message
 * and sends the result as a message. Workers start when they are needed. An idle worker does not keep the process
 * alive.
 */
export class WorkerPool<Task, Result> {
  private readonly start: () => Worker;
  private readonly size: number;
  private readonly waiting: Job<Task, Result>[] = [];
  private readonly idle: Worker[] = [];
  private readonly busy = new Map<Worker, Job<Task, Result>>();

  constructor(start: () => Worker, size: number) {
    this.start = start;
    this.size = size;
  }

  /**
   * Runs a task in a worker, as soon as a worker is free.
   * @param signal cancels the task if no worker has begun it
   * @throws the signal's reason if the signal aborts before a worker begins the task; the worker's error if an error
   * ends the worker
   */
  run(task: Task, signal?: AbortSignal): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ task, signal, resolve, reject });
      this.assign();
    });
  }

  private assign(): void {
    while (this.waiting.length > 0 && (this.idle.length > 0 || this.busy.size < this.size)) {
      const job = this.waiting.shift();
      // Check the signal only when a worker begins the task. Many tasks share a signal, and a listener would otherwise
      // be necessary for each waiting task.
      if (job?.signal?.aborted) job.reject(job.signal.reason);
      else if (job !== undefined) this.give(this.idle.pop() ?? this.startWorker(), job);
    }
  }

  private give(worker: Worker, job: Job<Task, Result>): void {
    this.busy.set(worker, job);
    worker.ref();
    worker.postMessage(job.task);
  }

  private startWorker(): Worker {
    const worker = this.start();
    let failure: unknown;
    worker.on('message', (result: Result) => {
      const job = this.busy.get(worker);
      this.busy.delete(worker);
      this.idle.push(worker);
      worker.unref();
      job?.resolve(result);
      this.assign();
    });
    worker.on('error', (error) => {
      failure = error;
    });
    worker.on('exit', (code) => {
      this.busy.get(worker)?.reject(failure ?? new Error(`the worker ended with exit code ${code}`));
      this.busy.delete(worker);
      const index = this.idle.indexOf(worker);
      if (index >= 0) this.idle.splice(index, 1);
      this.assign();
    });
    return worker;
  }
}
