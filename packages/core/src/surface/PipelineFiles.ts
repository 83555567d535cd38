import { OneFile, type RunFiles } from '../engine/runs/RunFiles.ts';
import type { CodeOfRuns } from '../orchestration/ports.ts';
import { type DriveRunOptions, driveRun, type RunWithDeps } from './driveRun.ts';
import type { PipelineResult } from './views.ts';

/** The pipeline over the state file of a run, and its surroundings here; `null` where they are not set. */
export interface PipelineFile extends RunWithDeps {
  readonly code: CodeOfRuns | null;
}

/** The port of a {@link Run}: its file, here or elsewhere. */
export interface PipelineFiles extends RunFiles<PipelineFile> {
  /** Executes a run in this process. */
  drive(id: string, options: DriveRunOptions): Promise<PipelineResult>;
  /**
   * Calls `use` with a run whose file and folder are here.
   *
   * @throws DevsError `RUN_ELSEWHERE`, naming the method.
   */
  here<T>(id: string, method: string, use: (file: PipelineFile) => Promise<T>): Promise<T>;
}

/** Runs of one open file. */
export class OpenPipeline extends OneFile<PipelineFile> implements PipelineFiles {
  drive(id: string, options: DriveRunOptions): Promise<PipelineResult> {
    return driveRun(id, options, this.file);
  }

  here<T>(_id: string, _method: string, use: (file: PipelineFile) => Promise<T>): Promise<T> {
    return use(this.file);
  }
}
