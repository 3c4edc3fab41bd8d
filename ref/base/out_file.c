/* SPDX-License-Identifier: MIT */
#include "base/out_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/complain.h"

bool o2_out_file_open(const char *program, struct o2_out_file *file, const char *option, const char *path,
		      bool dash)
{
	if (path == NULL)
		return true;
	file->option = option;
	file->path = path;
	file->out = dash && strcmp(path, "-") == 0 ? stdout : fopen(path, "aex");
	file->is_new = file->out != NULL && file->out != stdout;
	if (file->out == NULL && errno == EEXIST)
		file->out = fopen(path, "ae");
	if (file->out == NULL)
		o2_complain(program, "%s: %s", path, strerror(errno));
	return file->out != NULL;
}

/* Whether it is a regular file: only such a file has content that can be lost. */
static bool is_on_disk(const struct o2_out_file *file, struct stat *is)
{
	return file->out != NULL && fstat(fileno(file->out), is) == 0 && S_ISREG(is->st_mode);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether one text would get into the other.  A character device, such as /dev/null, holds no text. */
static bool is_shared(const struct o2_out_file *a, const struct o2_out_file *b)
{
	struct stat is, other;

	if (a->out == NULL || b->out == NULL)
		return false;
	return a->out == b->out || (fstat(fileno(a->out), &is) == 0 && !S_ISCHR(is.st_mode) &&
				    fstat(fileno(b->out), &other) == 0 && is_same(&is, &other));
}

/* Whether what the program prints would get into the file by another way than the file's own. */
static bool is_printed_to(const struct o2_out_file *file)
{
	struct stat is, printed;

	return file->out != stdout && is_on_disk(file, &is) && fstat(STDOUT_FILENO, &printed) == 0 &&
	       is_same(&is, &printed);
}

bool o2_out_files_are_own(const char *program, const struct o2_out_file *file, uint32_t files)
{
	for (uint32_t i = 0; i < files; i++)
		for (uint32_t k = 0; k < i; k++)
			if (is_shared(&file[i], &file[k])) {
				o2_complain(program, "%s: %s writes this file, and so does %s", file[i].path,
					    file[k].option, file[i].option);
				return false;
			}
	for (uint32_t i = 0; i < files; i++)
		if (is_printed_to(&file[i])) {
			o2_complain(program, "%s: this is standard output, so %s cannot write it",
				    file[i].path, file[i].option);
			return false;
		}
	return true;
}

bool o2_out_files_spare(const char *program, const struct o2_out_file *file, uint32_t files, const char *path,
			const char *what)
{
	struct stat is, read;

	if (path == NULL || (strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &read) : stat(path, &read)) != 0)
		return true;
	for (uint32_t i = 0; i < files; i++)
		if (is_on_disk(&file[i], &is) && is_same(&is, &read)) {
			o2_complain(program, "%s: this is %s, so %s cannot write it", file[i].path, what,
				    file[i].option);
			return false;
		}
	return true;
}

bool o2_out_file_empty(const char *program, const struct o2_out_file *file)
{
	struct stat is;

	if (file->out == stdout || !is_on_disk(file, &is) || ftruncate(fileno(file->out), 0) == 0)
		return true;
	o2_complain(program, "%s: %s", file->path, strerror(errno));
	return false;
}

void o2_out_file_look(struct o2_out_file *file)
{
	if (file->error == 0 && ferror(file->out))
		file->error = errno != 0 ? errno : EIO;
}

bool o2_out_file_close(const char *program, struct o2_out_file *file)
{
	if (file->out == NULL)
		return true;
	o2_out_file_look(file);
	if (fflush(file->out) != 0)
		o2_out_file_look(file);
	if (file->out != stdout && fclose(file->out) != 0 && file->error == 0)
		file->error = errno;
	file->out = NULL;
	if (file->error != 0)
		o2_complain(program, "%s: %s", file->path, strerror(file->error));
	return file->error == 0;
}

void o2_out_files_remove(const struct o2_out_file *file, uint32_t files)
{
	for (uint32_t i = 0; i < files; i++)
		if (file[i].out != NULL && file[i].is_new)
			unlink(file[i].path);
}

void o2_out_files_drop(struct o2_out_file *file, uint32_t files)
{
	o2_out_files_remove(file, files);
	for (uint32_t i = 0; i < files; i++) {
		if (file[i].out == NULL || file[i].out == stdout)
			continue;
		fclose(file[i].out);
		file[i].out = NULL;
	}
}
