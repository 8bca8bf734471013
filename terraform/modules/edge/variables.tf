variable "instances" {
  description = "Of each instance its domain, and the Cloud Run service of each function by the function's name in the code."
  type        = map(object({ domain = string, services = map(string) }))
  nullable    = false
}

variable "region" {
  description = "The region of the Cloud Run services."
  type        = string
  nullable    = false
}

variable "requests_per_minute" {
  description = "How many requests one IP address may send in a minute."
  type        = number
  nullable    = false
}
