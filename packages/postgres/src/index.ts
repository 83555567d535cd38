export { FileImage } from './FileImage.ts';
