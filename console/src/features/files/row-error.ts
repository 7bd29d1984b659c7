import { TEXT_LENGTH_MAX } from 'bookkeeping-client/index.ts';
import { DEPTH_MAX, ROW_SIZE_MAX, type RowError } from 'bookkeeping-formats/row.ts';
import { formatMessage } from '../../language/format.ts';
import { allTexts } from '../../language/texts.ts';

const LIMITS: Partial<Record<RowError['kind'], string | number>> = {
  'row-too-long': ROW_SIZE_MAX,
  'too-deep': DEPTH_MAX,
};

/** Why a row cannot be imported. */
export function explainRowError(error: RowError): string {
  const { rowErrors, columns } = allTexts.value;
  const isText = error.kind === 'text' || error.kind === 'text-too-long';
  const values = isText ? { field: columns[error.field] } : error;
  const max = error.kind === 'text-too-long' ? TEXT_LENGTH_MAX[error.field] : (LIMITS[error.kind] ?? '');
  return formatMessage(rowErrors[error.kind], { max, ...values });
}
