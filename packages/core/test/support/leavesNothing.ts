import { guardProcess } from './guardProcess.ts';

guardProcess();
