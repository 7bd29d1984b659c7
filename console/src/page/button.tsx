import type { ButtonHTMLAttributes } from 'preact';

interface ButtonProps extends Omit<ButtonHTMLAttributes, 'class'> {
  readonly text: string;
  readonly is?: string;
}

/** A button with a border, or filled: `is="primary"`. */
export function Button({ text, is = '', ...others }: ButtonProps) {
  return (
    <button type="button" class={`button ${is}`} {...others}>
      {text}
    </button>
  );
}

/** A button that looks like a link. */
export function LinkButton({ text, is = '', ...others }: ButtonProps) {
  return (
    <button type="button" class={`link ${is}`} {...others}>
      {text}
    </button>
  );
}
