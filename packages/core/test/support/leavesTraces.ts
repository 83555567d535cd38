import { guardProcess } from './guardProcess.ts';

guardProcess(['known secrets', 'functions of the process']);
