variable "project_id" {
  description = "The id of the project that the pipeline deploys to."
  type        = string
  nullable    = false
}

variable "repository" {
  description = "The GitHub repository, as OWNER/NAME."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[A-Za-z0-9-]+/[A-Za-z0-9._-]+$", var.repository))
    error_message = "repository must be OWNER/NAME, such as \"acme/identity\"."
  }
}

variable "branch" {
  description = "The only branch whose workflows may deploy."
  type        = string
  default     = "main"
  nullable    = false

  validation {
    condition     = can(regex("^[A-Za-z0-9._/-]+$", var.branch))
    error_message = "branch must be the name of a branch, such as \"main\"."
  }
}
